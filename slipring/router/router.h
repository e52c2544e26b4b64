// A router process: several loop threads behind one port, and the conductor that keeps them together. Started by the
// CLI (`slipring router`) and by tests alike.
// Thread-safety: any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "slipring/base/result.h"
#include "slipring/router/options.h"

namespace slipring::router {

class Router {
 public:
  // Listening on return; with options.topology also serving. kInvalidArgument: an option and what is allowed;
  // kUnavailable: an address that cannot be listened on.
  static Result<std::unique_ptr<Router>> start(Options options);
  virtual ~Router() = default;

  // Takes no further clients, lets each finish what it has sent (at most timeouts.drain_ms), then stops.
  virtual void drain() = 0;
  // At once. Called by the destructor.
  virtual void stop() = 0;

  virtual uint16_t port() const = 0;
  // 0: none.
  virtual uint16_t http_port() const = 0;
  // Serves by some topology; the reason why not, or empty.
  virtual std::string not_ready() const = 0;
  virtual uint64_t epoch() const = 0;
  virtual uint64_t generation() const = 0;
  virtual bool controller_connected() const = 0;
  virtual uint64_t clients() const = 0;
  // Prometheus text.
  virtual std::string metrics() const = 0;
};

}  // namespace slipring::router
