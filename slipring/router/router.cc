#include "slipring/router/router.h"

#include <fmt/format.h>

#include <condition_variable>
#include <mutex>

#include "slipring/base/log.h"
#include "slipring/base/secret.h"
#include "slipring/placement/scheme.h"
#include "slipring/router/conductor.h"
#include "slipring/router/exposition.h"
#include "slipring/router/http_endpoint.h"
#include "slipring/router/worker.h"

namespace slipring::router {
namespace {

constexpr uint32_t kThreadsMax = 256;

Status check(const Options& options) {
  if (auto ok = check_node_name(options.id); !ok) return fail_in("router id", ok.error());
  if (options.threads < 1 || options.threads > kThreadsMax) {
    return fail(Code::kInvalidArgument, fmt::format("threads {}: must be 1 to {}", options.threads, kThreadsMax));
  }
  if (options.controllers.empty() && !options.topology) {
    return fail(Code::kInvalidArgument, "a router needs the address of a controller");
  }
  for (const std::string& controller : options.controllers) {
    if (auto ok = parse_host_port(controller); !ok) return fail_in("controller", ok.error());
  }
  return {};
}

class RunningRouter final : public Router {
 public:
  explicit RunningRouter(Options options) : options_(std::move(options)), conductor_(options_, shared_, clock_) {}
  ~RunningRouter() override { stop(); }

  Status open();
  void drain() override;
  void stop() override;

  uint16_t port() const override { return workers_.front()->port(); }
  uint16_t http_port() const override { return http_ ? http_->port() : uint16_t{0}; }
  std::string not_ready() const override {
    return shared_.epoch.load() == 0 ? "no topology yet: the controller has not answered" : "";
  }
  uint64_t epoch() const override { return shared_.epoch.load(); }
  uint64_t generation() const override { return shared_.generation.load(); }
  bool controller_connected() const override { return shared_.controller_connected.load(); }
  uint64_t clients() const override { return shared_.clients.load(); }
  std::string metrics() const override { return expose(options_, shared_, workers_); }

 private:
  Status open_workers();
  Status open_http();

  const SystemClock clock_;
  const Options options_;
  Shared shared_;
  std::vector<std::unique_ptr<Worker>> workers_;
  Conductor conductor_;
  std::unique_ptr<HttpEndpoint> http_;
};

Status RunningRouter::open() {
  SLIPRING_TRY(check(options_));
  shared_.run_id = random_secret() + random_secret().substr(0, 8);
  shared_.started = clock_.now();
  SLIPRING_TRY(open_workers());
  SLIPRING_TRY(conductor_.open());
  SLIPRING_TRY(open_http());
  for (const auto& worker : workers_) worker->start();
  conductor_.start(workers_);
  log(LogLevel::kInfo, "router", "{}: listening on {} with {} threads", options_.id, shared_.listen, options_.threads);
  return {};
}

Status RunningRouter::open_workers() {
  SLIPRING_ASSIGN(const HostPort listen, parse_host_port(options_.listen, true));
  SLIPRING_ASSIGN(net::SocketAddress address, net::resolve(listen));
  // Sharing the port among our threads would share it with another process of the same user as well.
  if (net::is_taken(address))
    return fail(Code::kUnavailable, fmt::format("{}: another process listens there", options_.listen));
  for (uint32_t i = 0; i < options_.threads; ++i) {
    workers_.push_back(std::make_unique<Worker>(options_, shared_, clock_, conductor_, i));
    SLIPRING_TRY(workers_.back()->open(address));
    if (i > 0) continue;
    SLIPRING_ASSIGN(address, net::resolve({listen.host, workers_[0]->port()}));
  }
  shared_.listen = format_host_port({listen.host, port()});
  return {};
}

Status RunningRouter::open_http() {
  if (options_.http.empty()) return {};
  SLIPRING_ASSIGN(const HostPort address, parse_host_port(options_.http, true));
  SLIPRING_ASSIGN(http_, HttpEndpoint::start(
                             address, [this] { return metrics(); }, [this] { return not_ready(); }));
  return {};
}

void RunningRouter::drain() {
  for (const auto& worker : workers_) worker->drain();
  const MonoTime end = clock_.now() + Millis(options_.timeouts.drain_ms);
  std::unique_lock lock(shared_.drained_mutex);
  shared_.drained.wait_until(lock, end, [this] { return shared_.clients.load() == 0; });
  lock.unlock();
  stop();
}

void RunningRouter::stop() {
  http_.reset();
  conductor_.stop();
  for (const auto& worker : workers_) worker->stop();
}

}  // namespace

Result<std::unique_ptr<Router>> Router::start(Options options) {
  auto router = std::make_unique<RunningRouter>(std::move(options));
  SLIPRING_TRY(router->open());
  return router;
}

}  // namespace slipring::router
