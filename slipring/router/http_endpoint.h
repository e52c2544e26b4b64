// /metrics, /healthz and /readyz of a router, on a thread of their own.
// Thread-safety: start and destruction by one owner; the callbacks are called from the endpoint's threads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "slipring/base/parse.h"
#include "slipring/base/result.h"

namespace slipring::router {

class HttpEndpoint {
 public:
  // `not_ready`: empty, or why not. kUnavailable: the address cannot be listened on.
  static Result<std::unique_ptr<HttpEndpoint>> start(const HostPort& address, std::function<std::string()> metrics,
                                                     std::function<std::string()> not_ready);
  virtual ~HttpEndpoint() = default;
  virtual uint16_t port() const = 0;
};

}  // namespace slipring::router
