#include "slipring/control/api_client.h"

#include <fmt/format.h>
#include <httplib.h>

#include "slipring/base/parse.h"
#include "slipring/control/api_types.h"

namespace slipring::control {
namespace {

constexpr std::string_view kNoAnswer = "does not answer";

constexpr const char* kJson = "application/json";

// One segment of a path: everything but unreserved characters is escaped.
std::string segment(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '.' || c == '_' || c == '~';
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

}  // namespace

class ApiClient::Http {
 public:
  Http(const ApiClientOptions& options, const HostPort& address)
      : name_(options.address), client_(address.host, address.port) {
    client_.set_connection_timeout(std::chrono::milliseconds(options.connect_ms));
    client_.set_read_timeout(std::chrono::milliseconds(options.answer_ms));
    client_.set_write_timeout(std::chrono::milliseconds(options.answer_ms));
    client_.set_tcp_nodelay(true);
    client_.set_url_encode(false);
    if (!options.bearer_token.empty()) client_.set_bearer_token_auth(options.bearer_token);
  }

  Result<std::string> get(const std::string& path) { return check(client_.Get(path)); }
  Result<std::string> remove(const std::string& path) { return check(client_.Delete(path)); }
  Result<std::string> put(const std::string& path, const std::string& body) {
    return check(client_.Put(path, body, "application/octet-stream"));
  }
  template <typename Body>
  Result<std::string> post(const std::string& path, const Body& body) {
    return check(client_.Post(path, encode_json(body), kJson));
  }

  // The findings that came with the last error.
  std::vector<Finding> take_findings() { return std::exchange(findings_, {}); }

  template <typename T>
  Result<T> read(const Result<std::string>& body) {
    if (!body) return fail(body.error());
    auto value = decode_json<T>(*body, UnknownFields::kLenient);
    if (!value)
      return fail(Code::kUnavailable,
                  fmt::format("controller {}: unexpected answer: {}", name_, value.error().message));
    return std::move(*value);
  }

 private:
  Result<std::string> check(const httplib::Result& result) {
    findings_.clear();
    if (!result) return fail(transport_error(result.error()));
    if (result->status / 100 == 2) return result->body;
    auto error = decode_json<ErrorBody>(result->body, UnknownFields::kLenient);
    if (!error || error->code.empty()) {
      return fail(Code::kUnavailable,
                  fmt::format("controller {}: HTTP {} without an error body; is this a controller's API?", name_,
                              result->status));
    }
    findings_ = std::move(error->findings);
    return fail(code_of(error->code), error->message);
  }

  Error transport_error(httplib::Error error) const {
    const bool sent = error == httplib::Error::Read || error == httplib::Error::Write;
    return {
        sent ? Code::kDeadlineExceeded : Code::kUnavailable,
        fmt::format("controller {}: {}", name_,
                    sent ? "no answer in time, or the connection broke; the outcome is unknown" : kNoAnswer)};
  }

  std::string name_;
  httplib::Client client_;
  std::vector<Finding> findings_;
};

ApiClient::ApiClient(std::unique_ptr<Http> http) : http_(std::move(http)) {}
ApiClient::~ApiClient() = default;

bool is_no_answer(const Error& error) {
  return error.code == Code::kUnavailable && error.message.ends_with(kNoAnswer);
}

Result<std::unique_ptr<ApiClient>> ApiClient::make(const ApiClientOptions& options) {
  SLIPRING_ASSIGN(const HostPort address, parse_host_port(options.address));
  return std::unique_ptr<ApiClient>(new ApiClient(std::make_unique<Http>(options, address)));
}

Result<ClusterStatus> ApiClient::status() {
  return http_->read<ClusterStatus>(http_->get("/v1/status"));
}

Result<std::vector<Location>> ApiClient::locate(const std::string& pool, const std::vector<std::string>& keys) {
  SLIPRING_ASSIGN(LocateAnswer out, http_->read<LocateAnswer>(http_->post("/v1/locate", LocateRequest{pool, keys})));
  return std::move(out.locations);
}

Result<PlanPreview> ApiClient::preview(const ChangeRequest& request) {
  return http_->read<PlanPreview>(http_->post("/v1/preview", request));
}

Result<Started> ApiClient::start(const ChangeRequest& request, uint64_t if_epoch) {
  auto started = http_->read<Started>(http_->post("/v1/plans", StartRequest{request, if_epoch}));
  auto findings = http_->take_findings();
  if (!started && !findings.empty()) return Started{0, std::move(findings)};
  return started;
}

Result<std::vector<PlanSummary>> ApiClient::plans(const std::string& pool, const Page& page) {
  SLIPRING_ASSIGN(PlansAnswer out,
                  http_->read<PlansAnswer>(http_->get(
                      fmt::format("/v1/plans?pool={}&offset={}&limit={}", segment(pool), page.offset, page.limit))));
  return std::move(out.plans);
}

Result<PlanDetail> ApiClient::plan(uint64_t id, const Page& moves) {
  return http_->read<PlanDetail>(
      http_->get(fmt::format("/v1/plans/{}?offset={}&limit={}", id, moves.offset, moves.limit)));
}

Result<std::vector<PlanEvent>> ApiClient::plan_events(uint64_t id, uint64_t after, uint64_t limit) {
  SLIPRING_ASSIGN(
      EventsAnswer out,
      http_->read<EventsAnswer>(http_->get(fmt::format("/v1/plans/{}/events?after={}&limit={}", id, after, limit))));
  return std::move(out.events);
}

Result<PlanSummary> ApiClient::act(uint64_t id, PlanAction action, bool force) {
  return http_->read<PlanSummary>(http_->post(fmt::format("/v1/plans/{}/{}", id, name_of(action)), ActRequest{force}));
}

Result<PlanSummary> ApiClient::decide(uint64_t id, uint32_t move, Choice choice) {
  return http_->read<PlanSummary>(
      http_->post(fmt::format("/v1/plans/{}/moves/{}/decision", id, move), DecideRequest{choice}));
}

Status ApiClient::forget_router(const std::string& id) {
  SLIPRING_TRY(http_->remove("/v1/routers/" + segment(id)));
  return {};
}

Result<std::string> ApiClient::spawn_node(const std::string& name) {
  SLIPRING_ASSIGN(SpawnAnswer out, http_->read<SpawnAnswer>(http_->post("/v1/servers", SpawnRequest{name})));
  return std::move(out.address);
}

Status ApiClient::release_node(const std::string& name) {
  SLIPRING_TRY(http_->remove("/v1/servers/" + segment(name)));
  return {};
}

Result<std::string> ApiClient::export_topology() {
  return http_->get("/v1/topology");
}

Result<uint64_t> ApiClient::import_topology(const std::string& backup) {
  SLIPRING_ASSIGN(const EpochAnswer out, http_->read<EpochAnswer>(http_->put("/v1/topology", backup)));
  return out.epoch;
}

std::string ApiClient::metrics() {
  return http_->get("/metrics").value_or("");
}

Status ApiClient::ready() {
  SLIPRING_TRY(http_->get("/readyz"));
  return {};
}

}  // namespace slipring::control
