#include "slipring/router/http_endpoint.h"

#include <fmt/format.h>
#include <httplib.h>

#include <thread>

namespace slipring::router {
namespace {

class Running final : public HttpEndpoint {
 public:
  Running(std::function<std::string()> metrics, std::function<std::string()> not_ready) {
    server_.new_task_queue = [] { return new httplib::ThreadPool(2); };
    server_.Get("/metrics", [metrics](const httplib::Request&, httplib::Response& response) {
      response.set_content(metrics(), "text/plain; version=0.0.4");
    });
    server_.Get("/healthz", [](const httplib::Request&, httplib::Response& response) {
      response.set_content("ok\n", "text/plain");
    });
    server_.Get("/readyz", [not_ready](const httplib::Request&, httplib::Response& response) {
      const std::string why = not_ready();
      response.status = why.empty() ? 200 : 503;
      response.set_content(why.empty() ? "ready\n" : why + "\n", "text/plain");
    });
  }
  ~Running() override {
    server_.stop();
    if (thread_.joinable()) thread_.join();
  }

  Status listen(const HostPort& address) {
    if (address.port == 0) {
      port_ = static_cast<uint16_t>(std::max(0, server_.bind_to_any_port(address.host)));
    } else if (server_.bind_to_port(address.host, address.port)) {
      port_ = address.port;
    }
    if (port_ == 0) return fail(Code::kUnavailable, fmt::format("http {}: cannot listen", format_host_port(address)));
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    // stop() has no effect on a server that has not begun to listen.
    while (!server_.is_running()) std::this_thread::yield();
    return {};
  }
  uint16_t port() const override { return port_; }

 private:
  httplib::Server server_;
  uint16_t port_ = 0;
  std::thread thread_;
};

}  // namespace

Result<std::unique_ptr<HttpEndpoint>> HttpEndpoint::start(const HostPort& address, std::function<std::string()> metrics,
                                                          std::function<std::string()> not_ready) {
  auto endpoint = std::make_unique<Running>(std::move(metrics), std::move(not_ready));
  SLIPRING_TRY(endpoint->listen(address));
  return endpoint;
}

}  // namespace slipring::router
