#include "slipring/control/http_api.h"

#include <fmt/format.h>

#include <algorithm>

#include "slipring/base/parse.h"
#include "slipring/control/api_types.h"
#include "slipring/control/secret.h"
#include "slipring/control/secret_file.h"

namespace slipring::control {
namespace {

constexpr size_t kJsonBodyBytesMax = 4u << 20;

// ---- answers
// ---------------------------------------------------------------------------------------------------------

HttpAnswer error_answer(const Error& error) {
  return {http_status(error.code), "application/json",
          encode_json(ErrorBody{std::string(code_name(error.code)), error.message, {}})};
}

template <typename T>
HttpAnswer answer(const Result<T>& result, int status = 200) {
  return result ? HttpAnswer{status, "application/json", encode_json(*result)} : error_answer(result.error());
}

HttpAnswer answer(const Status& result) {
  return result ? HttpAnswer{200, "application/json", "{}"} : error_answer(result.error());
}

// ---- requests
// --------------------------------------------------------------------------------------------------------

struct Call {
  ControllerService& service;
  const HttpRequest& request;
  std::vector<std::string> captured;  // the {} of the route's pattern, in order
};

template <typename T>
Result<T> body_of(const Call& call) {
  return decode_json<T>(call.request.body, UnknownFields::kStrict);
}

// The query by name; a parameter that is not among `allowed` is an error, so a typing error is never ignored.
Result<std::string> query_value(const Call& call, std::string_view name,
                                std::initializer_list<std::string_view> allowed) {
  std::string value;
  for (const auto& [given, text] : call.request.query) {
    if (std::find(allowed.begin(), allowed.end(), given) == allowed.end()) {
      return fail(Code::kInvalidArgument,
                  fmt::format("query parameter \"{}\": known are {}", given.substr(0, 64), fmt::join(allowed, ", ")));
    }
    if (given == name) value = text;
  }
  return value;
}

Result<uint64_t> query_number(const Call& call, std::string_view name, std::initializer_list<std::string_view> allowed,
                              uint64_t otherwise, uint64_t min, uint64_t max) {
  SLIPRING_ASSIGN(const std::string text, query_value(call, name, allowed));
  if (text.empty()) return otherwise;
  const auto number = parse_u64(text, min, max);
  if (!number) return fail_in(name, number.error());
  return *number;
}

Result<Page> query_page(const Call& call, std::initializer_list<std::string_view> allowed) {
  Page page;
  SLIPRING_ASSIGN(page.offset, query_number(call, "offset", allowed, page.offset, 0, UINT64_MAX));
  SLIPRING_ASSIGN(page.limit, query_number(call, "limit", allowed, page.limit, 1, kPageItemsMax));
  return page;
}

Result<uint64_t> plan_id(const Call& call) {
  const auto id = parse_u64(call.captured.at(0), 1, UINT64_MAX);
  if (!id)
    return fail(Code::kInvalidArgument, fmt::format("plan \"{}\": must be a number", call.captured[0].substr(0, 64)));
  return *id;
}

// ---- one function a route
// --------------------------------------------------------------------------------------------

HttpAnswer get_health(const Call&) {
  return {200, "application/json", "{\"ok\":true}"};
}
HttpAnswer get_ready(const Call& call) {
  return answer(call.service.ready());
}
HttpAnswer get_metrics(const Call& call) {
  return {200, "text/plain; version=0.0.4", call.service.metrics()};
}
HttpAnswer get_status(const Call& call) {
  return answer(call.service.status());
}

Result<LocateAnswer> locate(const Call& call) {
  SLIPRING_ASSIGN(const LocateRequest body, body_of<LocateRequest>(call));
  if (body.keys.size() > kLocateKeysMax) {
    return fail(Code::kResourceExhausted,
                fmt::format("{} keys: at most {} in one call", body.keys.size(), kLocateKeysMax));
  }
  LocateAnswer out;
  SLIPRING_ASSIGN(out.locations, call.service.locate(body.pool, body.keys));
  return out;
}
HttpAnswer post_locate(const Call& call) {
  return answer(locate(call));
}

Result<PlanPreview> preview(const Call& call) {
  SLIPRING_ASSIGN(const ChangeRequest body, body_of<ChangeRequest>(call));
  return call.service.preview(body);
}
HttpAnswer post_preview(const Call& call) {
  return answer(preview(call));
}

HttpAnswer post_plan(const Call& call) {
  const auto body = body_of<StartRequest>(call);
  if (!body) return error_answer(body.error());
  const auto started = call.service.start(body->request, body->if_epoch);
  if (!started) return error_answer(started.error());
  if (started->plan != 0) return answer(started, 201);
  return {http_status(Code::kFailedPrecondition), "application/json",
          encode_json(ErrorBody{std::string(code_name(Code::kFailedPrecondition)),
                                "refused by preflight; nothing was changed", started->findings})};
}

Result<PlansAnswer> plans(const Call& call) {
  const auto allowed = {std::string_view("pool"), std::string_view("offset"), std::string_view("limit")};
  SLIPRING_ASSIGN(const std::string pool, query_value(call, "pool", allowed));
  SLIPRING_ASSIGN(const Page page, query_page(call, allowed));
  PlansAnswer out;
  SLIPRING_ASSIGN(out.plans, call.service.plans(pool, page));
  return out;
}
HttpAnswer get_plans(const Call& call) {
  return answer(plans(call));
}

Result<PlanDetail> plan(const Call& call) {
  SLIPRING_ASSIGN(const uint64_t id, plan_id(call));
  SLIPRING_ASSIGN(const Page page, query_page(call, {"offset", "limit"}));
  return call.service.plan(id, page);
}
HttpAnswer get_plan(const Call& call) {
  return answer(plan(call));
}

Result<EventsAnswer> events(const Call& call) {
  const auto allowed = {std::string_view("after"), std::string_view("limit")};
  SLIPRING_ASSIGN(const uint64_t id, plan_id(call));
  SLIPRING_ASSIGN(const uint64_t after, query_number(call, "after", allowed, 0, 0, UINT64_MAX));
  SLIPRING_ASSIGN(const uint64_t limit, query_number(call, "limit", allowed, 1000, 1, kPageItemsMax));
  EventsAnswer out;
  SLIPRING_ASSIGN(out.events, call.service.plan_events(id, after, limit));
  return out;
}
HttpAnswer get_events(const Call& call) {
  return answer(events(call));
}

Result<PlanSummary> act(const Call& call) {
  SLIPRING_ASSIGN(const uint64_t id, plan_id(call));
  SLIPRING_ASSIGN(const PlanAction action, parse_plan_action(call.captured.at(1)));
  SLIPRING_ASSIGN(const ActRequest body, body_of<ActRequest>(call));
  if (body.force && action != PlanAction::kRollback) {
    return fail(Code::kInvalidArgument, "force: only a rollback can be forced");
  }
  return call.service.act(id, action, body.force);
}
HttpAnswer post_action(const Call& call) {
  return answer(act(call));
}

Result<PlanSummary> decide(const Call& call) {
  SLIPRING_ASSIGN(const uint64_t id, plan_id(call));
  SLIPRING_ASSIGN(const uint64_t move, parse_u64(call.captured.at(1), 0, kMovesPerPlanMax));
  SLIPRING_ASSIGN(const DecideRequest body, body_of<DecideRequest>(call));
  return call.service.decide(id, static_cast<uint32_t>(move), body.choice);
}
HttpAnswer post_decision(const Call& call) {
  return answer(decide(call));
}

HttpAnswer delete_router(const Call& call) {
  return answer(call.service.forget_router(call.captured.at(0)));
}

Result<SpawnAnswer> spawn(const Call& call) {
  SLIPRING_ASSIGN(const SpawnRequest body, body_of<SpawnRequest>(call));
  SpawnAnswer out;
  SLIPRING_ASSIGN(out.address, call.service.spawn_node(body.name));
  return out;
}
HttpAnswer post_server(const Call& call) {
  return answer(spawn(call), 201);
}
HttpAnswer delete_server(const Call& call) {
  return answer(call.service.release_node(call.captured.at(0)));
}

HttpAnswer get_topology(const Call& call) {
  auto backup = call.service.export_topology();
  if (!backup) return error_answer(backup.error());
  return {200, "application/octet-stream", std::move(*backup)};
}
Result<EpochAnswer> import(const Call& call) {
  if (call.request.body.empty())
    return fail(Code::kInvalidArgument, "the body is empty; send what topology export wrote");
  EpochAnswer out;
  SLIPRING_ASSIGN(out.epoch, call.service.import_topology(call.request.body));
  return out;
}
HttpAnswer put_topology(const Call& call) {
  return answer(import(call));
}

// ---- routing
// ---------------------------------------------------------------------------------------------------------

struct Route {
  std::string_view method;
  std::string_view pattern;  // {} takes one segment
  HttpAnswer (*run)(const Call&);
  bool json_body = false;
};

constexpr Route kRoutes[] = {
    {"GET", "/healthz", get_health},
    {"GET", "/readyz", get_ready},
    {"GET", "/metrics", get_metrics},
    {"GET", "/v1/status", get_status},
    {"POST", "/v1/locate", post_locate, true},
    {"POST", "/v1/preview", post_preview, true},
    {"GET", "/v1/plans", get_plans},
    {"POST", "/v1/plans", post_plan, true},
    {"GET", "/v1/plans/{}", get_plan},
    {"GET", "/v1/plans/{}/events", get_events},
    {"POST", "/v1/plans/{}/moves/{}/decision", post_decision, true},
    {"POST", "/v1/plans/{}/{}", post_action, true},
    {"DELETE", "/v1/routers/{}", delete_router},
    {"POST", "/v1/servers", post_server, true},
    {"DELETE", "/v1/servers/{}", delete_server},
    {"GET", "/v1/topology", get_topology},
    {"PUT", "/v1/topology", put_topology},
};

std::string_view take_segment(std::string_view& path) {
  path.remove_prefix(1);
  const std::string_view segment = path.substr(0, path.find('/'));
  path.remove_prefix(segment.size());
  return segment;
}

bool matches(std::string_view pattern, std::string_view path, std::vector<std::string>& captured) {
  captured.clear();
  while (pattern.starts_with('/') && path.starts_with('/')) {
    const std::string_view wanted = take_segment(pattern);
    const std::string_view got = take_segment(path);
    if (wanted == "{}" && !got.empty()) {
      captured.emplace_back(got);
    } else if (wanted != got) {
      return false;
    }
  }
  return pattern.empty() && path.empty();
}

// The route of a request; else nullptr, and whether another method would have one.
const Route* find_route(const HttpRequest& request, std::vector<std::string>& captured, bool& other_method) {
  other_method = false;
  for (const Route& route : kRoutes) {
    if (!matches(route.pattern, request.path, captured)) continue;
    if (route.method == request.method) return &route;
    other_method = true;
  }
  return nullptr;
}

// ---- who may call
// ----------------------------------------------------------------------------------------------------

bool is_loopback(std::string_view host) {
  return host == "localhost" || host == "::1" || host == "[::1]" ||
         (host.starts_with("127.") && host.find_first_not_of("0123456789.") == std::string_view::npos);
}

std::string_view without_port(std::string_view host) {
  const size_t colon = host.rfind(':');
  const bool bare_v6 = host.find(':') != colon && !host.starts_with('[');
  return colon == std::string_view::npos || host.ends_with(']') || bare_v6 ? host : host.substr(0, colon);
}

Status check_caller(const HttpApiOptions& options, const HttpRequest& head) {
  if (options.bearer_token.empty()) {
    if (is_loopback(without_port(head.host))) return {};
    return fail(Code::kPermissionDenied, "host: without a bearer token only loopback names are answered");
  }
  if (head.path == "/healthz" || same_secret(head.authorization, "Bearer " + options.bearer_token)) return {};
  return fail(Code::kUnauthenticated, "authorization: a bearer token is needed (--api-token-file)");
}

Status check_body(const HttpRequest& head) {
  if (!head.content_encoding.empty())
    return fail(Code::kInvalidArgument, "content-encoding: bodies are read as they are");
  if (head.method != "POST" && head.method != "PUT") return {};
  const std::string_view wanted = head.method == "PUT" ? "application/octet-stream" : "application/json";
  if (std::string_view(head.content_type).substr(0, head.content_type.find(';')) == wanted) return {};
  return fail(Code::kInvalidArgument, fmt::format("content-type: must be {}", wanted));
}

}  // namespace

int http_status(Code code) {
  switch (code) {
    case Code::kInvalidArgument:
    case Code::kFailedPrecondition:
    case Code::kOutOfRange:
      return 400;
    case Code::kUnauthenticated:
      return 401;
    case Code::kPermissionDenied:
      return 403;
    case Code::kNotFound:
      return 404;
    case Code::kAlreadyExists:
    case Code::kAborted:
      return 409;
    case Code::kResourceExhausted:
      return 429;
    case Code::kCancelled:
      return 499;
    case Code::kUnimplemented:
      return 501;
    case Code::kUnavailable:
      return 503;
    case Code::kDeadlineExceeded:
      return 504;
    case Code::kUnknown:
    case Code::kInternal:
    case Code::kDataLoss:
      return 500;
  }
  return 500;
}

std::optional<HttpAnswer> guard_request(const HttpApiOptions& options, const HttpRequest& head) {
  Status ok = check_caller(options, head);
  if (ok) ok = check_body(head);
  return ok ? std::nullopt : std::optional(error_answer(ok.error()));
}

HttpAnswer handle_request(ControllerService& service, const HttpRequest& request) {
  Call call{service, request, {}};
  bool other_method = false;
  const Route* route = find_route(request, call.captured, other_method);
  if (route == nullptr && other_method) {
    return {405, "application/json",
            encode_json(ErrorBody{"unimplemented", request.method + " is not defined here", {}})};
  }
  if (route == nullptr) return error_answer({Code::kNotFound, "no such path; docs/api.md lists them"});
  if (route->json_body && request.body.size() > kJsonBodyBytesMax) {
    return {413, "application/json", encode_json(ErrorBody{"resource_exhausted", "the body is too long", {}})};
  }
  return route->run(call);
}

Result<std::unique_ptr<HttpServer>> serve_api(ControllerService& service, const HttpApiOptions& options) {
  const auto address = parse_host_port(options.listen, true);
  if (!address) return fail_in("api", address.error());
  if (options.bearer_token.empty() && !is_loopback(address->host)) {
    return fail(Code::kInvalidArgument,
                fmt::format("api {}: without a token file the API listens on loopback addresses only", options.listen));
  }
  return HttpServer::start(
      options.listen, options.limits, [options](const HttpRequest& head) { return guard_request(options, head); },
      [&service](const HttpRequest& request) { return handle_request(service, request); });
}

Result<std::string> read_token_file(const std::string& path) {
  SLIPRING_ASSIGN(std::string text, read_secret_file(path));
  text.resize(std::min(text.size(), text.find_first_of("\r\n")));
  const bool printable = std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 127; });
  if (text.size() < 16 || text.size() > 256 || !printable) {
    return fail(Code::kInvalidArgument, fmt::format("{}: the first line must be 16 to 256 printable characters", path));
  }
  return text;
}

}  // namespace slipring::control
