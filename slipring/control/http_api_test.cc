#include "slipring/control/http_api.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "slipring/control/api_client.h"
#include "slipring/control/api_types.h"
#include "slipring/control/fake_service.h"

namespace slipring::control {
namespace {

using nlohmann::json;

// ---- requests without a network
// --------------------------------------------------------------------------------------

class Handle : public ::testing::Test {
 protected:
  HttpAnswer call(const std::string& method, const std::string& path, const std::string& body = "",
                  std::vector<std::pair<std::string, std::string>> query = {}) {
    return handle_request(service, {method, path, std::move(query), "", "localhost", "", "", body});
  }
  std::string error(const HttpAnswer& answer) { return json::parse(answer.body).value("message", ""); }

  FakeService service;
};

TEST_F(Handle, HealthAnswersWithoutAskingTheService) {
  service.failure = Error{Code::kUnavailable, "down"};
  EXPECT_EQ(call("GET", "/healthz").status, 200);
  EXPECT_TRUE(service.calls().empty());
}

TEST_F(Handle, ReadyIsTheServicesAnswer) {
  EXPECT_EQ(call("GET", "/readyz").status, 200);
  service.failure = Error{Code::kUnavailable, "no leader"};
  const HttpAnswer answer = call("GET", "/readyz");
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(error(answer), "no leader");
}

TEST_F(Handle, MetricsAreText) {
  const HttpAnswer answer = call("GET", "/metrics");
  EXPECT_EQ(answer.content_type, "text/plain; version=0.0.4");
  EXPECT_EQ(answer.body, "slipring_epoch 42\n");
}

TEST_F(Handle, AnUnknownPathIsNotFoundAndAWrongMethodIsNotAllowed) {
  for (const char* path :
       {"/", "/v1", "/v1/", "/v1/status/", "/v2/status", "//v1/status", "/v1/plans//events", "", "*"}) {
    EXPECT_EQ(call("GET", path).status, 404) << path;
  }
  EXPECT_EQ(call("POST", "/v1/status").status, 405);
  EXPECT_EQ(call("DELETE", "/v1/plans").status, 405);
  EXPECT_TRUE(service.calls().empty());
}

TEST_F(Handle, AStartThatPreflightRefusesCarriesItsFindings) {
  service.next_started = {0, {{Severity::kRefuse, "role", "node n4", "is a replica", "use the primary"}}};
  const HttpAnswer answer = call("POST", "/v1/plans", R"({"change":{"type":"remove_node","name":"n1"},"if_epoch":4})");
  EXPECT_EQ(answer.status, 400);
  const json body = json::parse(answer.body);
  EXPECT_EQ(body["code"], "failed_precondition");
  EXPECT_EQ(body["findings"][0]["todo"], "use the primary");
}

TEST_F(Handle, AStartWithoutTheEpochItWasComputedOnIsRefused) {
  const HttpAnswer answer = call("POST", "/v1/plans", R"({"change":{"type":"remove_node","name":"n1"}})");
  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(error(answer), "if_epoch: is missing");
  EXPECT_TRUE(service.calls().empty());
}

TEST_F(Handle, AStartedPlanIsCreated) {
  service.next_started = {12, {}};
  const HttpAnswer answer = call("POST", "/v1/plans", R"({"change":{"type":"remove_node","name":"n1"},"if_epoch":4})");
  EXPECT_EQ(answer.status, 201);
  EXPECT_EQ(service.calls().back(), "start remove node n1 if 4");
}

TEST_F(Handle, PagesAreChecked) {
  EXPECT_EQ(call("GET", "/v1/plans", "", {{"offset", "5"}, {"limit", "7"}, {"pool", "p"}}).status, 200);
  EXPECT_EQ(service.calls().back(), "plans p 5 7");
  EXPECT_EQ(call("GET", "/v1/plans").status, 200);
  EXPECT_EQ(service.calls().back(), "plans  0 1000");
  for (const auto& [name, value] :
       {std::pair{"limit", "0"}, {"limit", "10001"}, {"limit", "-1"}, {"offset", "x"}, {"lmit", "1"}}) {
    EXPECT_EQ(call("GET", "/v1/plans", "", {{name, value}}).status, 400) << name << value;
  }
}

TEST_F(Handle, PlanIdsAreNumbersFromOne) {
  EXPECT_EQ(call("GET", "/v1/plans/7").status, 200);
  for (const char* id : {"0", "-1", "x", "18446744073709551616", "7x"}) {
    EXPECT_EQ(call("GET", std::string("/v1/plans/") + id).status, 400) << id;
  }
}

TEST_F(Handle, OnlyARollbackCanBeForced) {
  EXPECT_EQ(call("POST", "/v1/plans/7/rollback", R"({"force":true})").status, 200);
  EXPECT_EQ(service.calls().back(), "act 7 rollback force");
  EXPECT_EQ(call("POST", "/v1/plans/7/complete").status, 200);
  EXPECT_EQ(service.calls().back(), "act 7 complete");
  EXPECT_EQ(call("POST", "/v1/plans/7/complete", R"({"force":true})").status, 400);
  EXPECT_EQ(call("POST", "/v1/plans/7/explode").status, 400);
}

TEST_F(Handle, DecisionsNameAMoveAndAChoice) {
  EXPECT_EQ(call("POST", "/v1/plans/7/moves/3/decision", R"({"choice":"merge"})").status, 200);
  EXPECT_EQ(service.calls().back(), "decide 7 3 merge");
  EXPECT_EQ(call("POST", "/v1/plans/7/moves/3/decision", R"({"choice":"both"})").status, 400);
  EXPECT_EQ(call("POST", "/v1/plans/7/moves/x/decision", R"({"choice":"merge"})").status, 400);
}

TEST_F(Handle, MoreKeysThanTheLimitAreRefused) {
  LocateRequest request;
  request.keys.assign(kLocateKeysMax + 1, "k");
  EXPECT_EQ(call("POST", "/v1/locate", encode_json(request)).status, 429);
  request.keys.pop_back();
  EXPECT_EQ(call("POST", "/v1/locate", encode_json(request)).status, 200);
}

TEST_F(Handle, ABodyAboveTheLimitIsRefusedBeforeItIsParsed) {
  EXPECT_EQ(call("POST", "/v1/locate", std::string((4u << 20) + 1, ' ')).status, 413);
}

TEST_F(Handle, AnEmptyImportIsRefused) {
  EXPECT_EQ(call("PUT", "/v1/topology").status, 400);
  EXPECT_EQ(call("PUT", "/v1/topology", "x").status, 200);
}

TEST(HttpStatus, FollowsTheCanonicalMapping) {
  const std::pair<Code, int> mapping[] = {
      {Code::kCancelled, 499},        {Code::kUnknown, 500},           {Code::kInvalidArgument, 400},
      {Code::kDeadlineExceeded, 504}, {Code::kNotFound, 404},          {Code::kAlreadyExists, 409},
      {Code::kPermissionDenied, 403}, {Code::kResourceExhausted, 429}, {Code::kFailedPrecondition, 400},
      {Code::kAborted, 409},          {Code::kOutOfRange, 400},        {Code::kUnimplemented, 501},
      {Code::kInternal, 500},         {Code::kUnavailable, 503},       {Code::kDataLoss, 500},
      {Code::kUnauthenticated, 401}};
  for (const auto& [code, status] : mapping) EXPECT_EQ(http_status(code), status) << code_name(code);
}

// ---- who may call
// ----------------------------------------------------------------------------------------------------

int guarded(const std::string& token, HttpRequest head) {
  const auto answer = guard_request({"127.0.0.1:0", token, {}}, head);
  return answer ? answer->status : 0;
}
HttpRequest get(const std::string& path, const std::string& host, const std::string& authorization = "") {
  return {"GET", path, {}, authorization, host, "", "", ""};
}

TEST(Guard, WithoutATokenOnlyLoopbackNamesAreAnswered) {
  for (const char* host :
       {"localhost", "localhost:7400", "127.0.0.1:7400", "127.8.8.8", "[::1]:7400", "[::1]", "::1"}) {
    EXPECT_EQ(guarded("", get("/v1/status", host)), 0) << host;
  }
  for (const char* host :
       {"evil.example", "127.0.0.1.evil.example", "localhost.evil:7400", "", "10.0.0.1", "[::2]:7400"}) {
    EXPECT_EQ(guarded("", get("/v1/status", host)), 403) << host;
  }
}

TEST(Guard, WithATokenEveryCallButHealthMustCarryIt) {
  const std::string token = "0123456789abcdef";
  EXPECT_EQ(guarded(token, get("/v1/status", "any.example", "Bearer " + token)), 0);
  EXPECT_EQ(guarded(token, get("/healthz", "any.example")), 0);
  for (const char* path : {"/v1/status", "/metrics", "/readyz", "/healthz/", "/v1/topology"}) {
    EXPECT_EQ(guarded(token, get(path, "127.0.0.1")), 401) << path;
  }
  for (const char* wrong :
       {"Bearer 0123456789abcdeF", "Bearer ", "0123456789abcdef", "Basic x", "Bearer 0123456789abcdef "}) {
    EXPECT_EQ(guarded(token, get("/v1/status", "h", wrong)), 401) << wrong;
  }
}

TEST(Guard, ABodyMustSayWhatItIs) {
  const auto post = [](const std::string& method, const std::string& type, const std::string& encoding = "") {
    return guarded("", {method, "/v1/plans", {}, "", "localhost", type, encoding, ""});
  };
  EXPECT_EQ(post("POST", "application/json"), 0);
  EXPECT_EQ(post("POST", "application/json; charset=utf-8"), 0);
  EXPECT_EQ(post("PUT", "application/octet-stream"), 0);
  // What a form of a web page can send.
  for (const char* type : {"", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"}) {
    EXPECT_EQ(post("POST", type), 400) << type;
  }
  EXPECT_EQ(post("POST", "application/json", "gzip"), 400);
}

TEST(ServeApi, BeyondLoopbackATokenIsNeeded) {
  FakeService service;
  for (const char* listen : {"0.0.0.0:0", "[::]:0", "192.0.2.1:0"}) {
    const auto got = serve_api(service, {listen, "", {}});
    ASSERT_FALSE(got.has_value()) << listen;
    EXPECT_EQ(got.error().code, Code::kInvalidArgument);
  }
  EXPECT_TRUE(serve_api(service, {"0.0.0.0:0", "0123456789abcdef", {}}).has_value());
}

// ---- client and server together, over loopback
// -----------------------------------------------------------------------

class OverHttp : public ::testing::Test {
 protected:
  void SetUp() override { start(""); }
  void start(const std::string& token) {
    client.reset();
    server.reset();
    auto started = serve_api(service, {"127.0.0.1:0", token, {}});
    ASSERT_TRUE(started.has_value()) << started.error().message;
    server = std::move(*started);
    client = ApiClient::make({server->address(), token, 2'000, 10'000}).value();
  }

  FakeService service;
  std::unique_ptr<HttpServer> server;
  std::unique_ptr<ApiClient> client;
};

TEST_F(OverHttp, EveryCallReachesTheServiceAsItWasMade) {
  const ChangeRequest change{"main", NodeAdd{"n4", "10.0.0.4:6379", 500, "b"}, {0, 1, 2, true}};
  EXPECT_TRUE(client->status().has_value());
  EXPECT_TRUE(client->locate("main", {"a\xff", "b"}).has_value());
  EXPECT_TRUE(client->preview(change).has_value());
  service.next_started.plan = 9;
  EXPECT_EQ(client->start(change, 41)->plan, 9u);
  EXPECT_TRUE(client->plans("main pool", {3, 4}).has_value());
  EXPECT_TRUE(client->plan(9, {1, 2}).has_value());
  EXPECT_TRUE(client->plan_events(9, 5, 6).has_value());
  EXPECT_TRUE(client->act(9, PlanAction::kRollback, true).has_value());
  EXPECT_TRUE(client->decide(9, 2, Choice::kOther).has_value());
  EXPECT_TRUE(client->forget_router("r1").has_value());
  EXPECT_EQ(client->forget_router("../plans/9/cancel").error().code, Code::kNotFound);
  EXPECT_EQ(client->spawn_node("n5").value(), "127.0.0.1:7001");
  EXPECT_TRUE(client->release_node("n5").has_value());
  EXPECT_TRUE(client->ready().has_value());
  EXPECT_EQ(client->metrics(), "slipring_epoch 42\n");
  EXPECT_EQ(service.last_change(), change);
  EXPECT_EQ(service.last_keys(), (std::vector<std::string>{"a\xff", "b"}));
  const std::string add = "add node n4 at 10.0.0.4:6379 (weight 0.5)";
  EXPECT_EQ(service.calls(),
            (std::vector<std::string>{"status", "locate main", "preview " + add, "start " + add + " if 41",
                                      "plans main pool 3 4", "plan 9 1 2", "events 9 5 6", "act 9 rollback force",
                                      "decide 9 2 other", "forget r1", "spawn n5", "release n5", "ready"}));
}

TEST_F(OverHttp, ABackupIsBytes) {
  service.backup = std::string("\x00\x01\xff\r\n", 5) + std::string(300'000, 'x');
  EXPECT_EQ(client->export_topology().value(), service.backup);
  EXPECT_EQ(client->import_topology(service.backup).value(), 43u);
  EXPECT_EQ(service.last_backup(), service.backup);
}

TEST_F(OverHttp, ErrorsComeBackAsTheyWere) {
  for (int i = static_cast<int>(Code::kCancelled); i <= static_cast<int>(Code::kUnauthenticated); ++i) {
    service.failure = Error{static_cast<Code>(i), "plan 7: is open; finish it first"};
    EXPECT_EQ(client->status().error(), *service.failure);
  }
}

TEST_F(OverHttp, ARefusedStartComesBackWithItsFindings) {
  service.next_started = {0, {{Severity::kRefuse, "role", "node n4", "is a replica", "use the primary"}}};
  EXPECT_EQ(client->start({"", NodeRemove{"n1"}, {}}, 1).value(), service.next_started);
}

TEST_F(OverHttp, NobodyThereIsUnavailable) {
  const std::string address = server->address();
  server.reset();
  const auto got = client->status();
  EXPECT_EQ(got.error().code, Code::kUnavailable);
  EXPECT_NE(got.error().message.find(address), std::string::npos);
}

TEST_F(OverHttp, WithATokenAClientWithoutItIsRefused) {
  start("0123456789abcdef");
  EXPECT_TRUE(client->status().has_value());
  auto without = ApiClient::make({server->address(), "", 2'000, 10'000}).value();
  EXPECT_EQ(without->status().error().code, Code::kUnauthenticated);
}

}  // namespace
}  // namespace slipring::control
