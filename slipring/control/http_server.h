// A small HTTP/1.1 server over cpp-httplib with a bound on everything a peer can make it hold: bytes of a request, the
// time to send it, connections that wait, length of the target. What a request means is the caller's: a guard that sees
// the head before the body is read, and a handler that sees both.
//
// Invariant: a request that the guard answered never reaches the handler, and its body is never read.
// Thread-safety: guard and handler are called from several threads at once; start() and stop() from one.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "slipring/base/result.h"

namespace slipring::control {

struct HttpRequest {
  std::string method;
  std::string path;  // decoded, without the query
  std::vector<std::pair<std::string, std::string>> query;
  std::string authorization;
  std::string host;
  std::string content_type;
  std::string content_encoding;
  std::string body;
};

struct HttpAnswer {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
};

struct HttpLimits {
  size_t threads = 8;                // requests that run at once
  size_t waiting_max = 64;           // connections that wait for a thread; above it they are closed at once
  size_t head_bytes_max = 16 << 10;  // request line and headers
  size_t target_bytes_max = 2048;    // path and query
  size_t body_bytes_max = 64 << 20;  // a backup of the topology may be that long
  int64_t receive_ms_max = 10'000;   // to send a whole request
  int64_t send_ms_max = 10'000;      // to take a part of the answer
  int64_t keep_alive_ms = 5'000;     // between two requests of a connection
  size_t requests_per_connection_max = 10'000;
};

class HttpServer {
 public:
  using Guard = std::function<std::optional<HttpAnswer>(const HttpRequest& head)>;
  using Handler = std::function<HttpAnswer(const HttpRequest&)>;

  // Listens on host:port (port 0: any free one). kUnavailable: the address cannot be listened on.
  static Result<std::unique_ptr<HttpServer>> start(const std::string& listen, const HttpLimits& limits, Guard guard,
                                                   Handler handler);
  virtual ~HttpServer() = default;
  // host:port with the real port.
  virtual std::string address() const = 0;
};

}  // namespace slipring::control
