// The HTTP/JSON API of a controller, version 1, as docs/api.md describes it: a pure function from a request to an
// answer, and the server that carries it.
//
// Who may call: without a bearer token the API listens on loopback addresses only and answers only requests whose Host
// is one (a web page that a browser was led to cannot reach it); with a token every call but /healthz must carry it.
// Thread-safety: any thread.
#pragma once

#include <memory>
#include <string>

#include "slipring/base/result.h"
#include "slipring/control/http_server.h"
#include "slipring/control/service.h"

namespace slipring::control {

// HTTP status of a canonical code, by Google's mapping: kFailedPrecondition is 400, kAborted 409, kUnavailable 503.
int http_status(Code code);

struct HttpApiOptions {
  std::string listen;        // host:port, port 0 = any
  std::string bearer_token;  // empty: loopback only
  HttpLimits limits;
};

// What the head of a request alone decides: an answer that refuses it, or nothing.
std::optional<HttpAnswer> guard_request(const HttpApiOptions& options, const HttpRequest& head);
// One request to the service.
HttpAnswer handle_request(ControllerService& service, const HttpRequest& request);

// Serves `service` until the result is destroyed. kInvalidArgument: not a loopback address and no token.
Result<std::unique_ptr<HttpServer>> serve_api(ControllerService& service, const HttpApiOptions& options);

// The token in a file: its first line, 16 to 256 printable characters. kPermissionDenied if others can read the file.
Result<std::string> read_token_file(const std::string& path);

}  // namespace slipring::control
