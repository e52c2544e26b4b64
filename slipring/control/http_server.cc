#include "slipring/control/http_server.h"

#include <fmt/format.h>
#include <httplib.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>

#include "slipring/base/clock.h"
#include "slipring/base/parse.h"

namespace slipring::control {
namespace {

constexpr size_t kReadBytes = 16 << 10;
// How often a waiting connection looks whether the server ends.
constexpr int64_t kLookUpEveryMs = 100;

// Set while a task runs only to be turned away: its connection is closed without being read.
thread_local bool refuse_connection = false;

// httplib's own pool has no bound on what waits. A task cannot be dropped (it owns a socket), so above the bound it is
// run at once, refusing.
class BoundedQueue final : public httplib::TaskQueue {
 public:
  BoundedQueue(size_t threads, size_t waiting_max) : waiting_max_(waiting_max) {
    for (size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
  }

  void enqueue(std::function<void()> task) override {
    {
      const std::lock_guard lock(mutex_);
      if (tasks_.size() < waiting_max_) {
        tasks_.push_back(std::move(task));
        changed_.notify_one();
        return;
      }
    }
    refuse_connection = true;
    task();
    refuse_connection = false;
  }

  void shutdown() override {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  void work() {
    for (;;) {
      std::function<void()> task;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return ended_ || !tasks_.empty(); });
        if (tasks_.empty()) return;
        task = std::move(tasks_.front());
        tasks_.pop_front();
      }
      task();
    }
  }

  const size_t waiting_max_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  bool ended_ = false;
  std::vector<std::thread> threads_;
};

// One connection with a budget of bytes and time for the request that it is sending.
class BoundedStream final : public httplib::Stream {
 public:
  BoundedStream(int fd, const HttpLimits& limits, const Clock& clock) : fd_(fd), limits_(limits), clock_(clock) {}

  // Waits for the first byte of a request, at most `ms`; then its budget starts.
  bool next_request(int64_t ms) {
    deadline_ = clock_.now() + Millis(ms);
    if (!is_readable() || (at_ == buffer_.size() && !fill())) return false;
    deadline_ = clock_.now() + Millis(limits_.receive_ms_max);
    budget_ = limits_.head_bytes_max;
    return true;
  }
  // The peer has closed, a request was cut short or grew too long: nothing more can be read.
  bool ended() const { return ended_; }
  void allow_body() { budget_ = limits_.body_bytes_max; }

  bool is_readable() const override { return at_ < buffer_.size() || wait(POLLIN, left_ms()); }
  bool is_writable() const override { return wait(POLLOUT, limits_.send_ms_max); }

  ssize_t read(char* out, size_t size) override {
    if (budget_ == 0 || (at_ == buffer_.size() && !fill())) {
      ended_ = true;
      return -1;
    }
    const size_t n = std::min({size, buffer_.size() - at_, budget_});
    std::memcpy(out, buffer_.data() + at_, n);
    at_ += n;
    budget_ -= n;
    return static_cast<ssize_t>(n);
  }
  ssize_t write(const char* data, size_t size) override {
    if (!is_writable()) return -1;
    return ::send(fd_, data, size, MSG_NOSIGNAL);
  }
  void get_remote_ip_and_port(std::string& ip, int& port) const override {
    ip.clear();
    port = 0;
  }
  void get_local_ip_and_port(std::string& ip, int& port) const override { get_remote_ip_and_port(ip, port); }
  socket_t socket() const override { return fd_; }

 private:
  int64_t left_ms() const { return std::chrono::duration_cast<Millis>(deadline_ - clock_.now()).count(); }
  bool wait(short events, int64_t ms) const {
    pollfd p{fd_, events, 0};
    int n = 0;
    do {
      n = ::poll(&p, 1, static_cast<int>(std::clamp<int64_t>(ms, 0, 60'000)));
    } while (n < 0 && errno == EINTR);
    return n > 0;
  }
  bool fill() {
    if (!wait(POLLIN, left_ms())) return false;
    buffer_.resize(kReadBytes);
    const ssize_t n = ::recv(fd_, buffer_.data(), buffer_.size(), 0);
    at_ = 0;
    buffer_.resize(n > 0 ? static_cast<size_t>(n) : 0);
    ended_ = n <= 0;
    return n > 0;
  }

  const int fd_;
  const HttpLimits& limits_;
  const Clock& clock_;
  MonoTime deadline_{};
  size_t budget_ = 0;
  std::string buffer_;
  size_t at_ = 0;
  bool ended_ = false;
};

// The stream of the connection that this thread serves, so that the guard can open the budget of the body.
thread_local BoundedStream* current_stream = nullptr;

HttpRequest head_of(const httplib::Request& in) {
  HttpRequest out;
  out.method = in.method;
  out.path = in.path;
  for (const auto& [name, value] : in.params) out.query.emplace_back(name, value);
  out.authorization = in.get_header_value("Authorization");
  out.host = in.get_header_value("Host");
  out.content_type = in.get_header_value("Content-Type");
  out.content_encoding = in.get_header_value("Content-Encoding");
  return out;
}

void give(const HttpAnswer& answer, httplib::Response& out) {
  out.status = answer.status;
  out.set_content(answer.body, answer.content_type);
}

class Server final : public HttpServer, private httplib::Server {
 public:
  Server(const HttpLimits& limits, Guard guard, HttpServer::Handler handler)
      : limits_(limits), guard_(std::move(guard)), handler_(std::move(handler)) {}
  ~Server() override {
    stop();
    if (thread_.joinable()) thread_.join();
  }

  Status listen_on(const HostPort& address) {
    set_up();
    errno = 0;
    const int port = address.port != 0 ? (bind_to_port(address.host, address.port) ? address.port : -1)
                                       : bind_to_any_port(address.host);
    if (port <= 0) {
      return fail(Code::kUnavailable, fmt::format("listen on {}: {}", format_host_port(address),
                                                  errno != 0 ? std::strerror(errno) : "cannot be used"));
    }
    address_ = format_host_port({address.host, static_cast<uint16_t>(port)});
    thread_ = std::thread([this] { listen_after_bind(); });
    // stop() has no effect before the loop runs.
    while (!is_running()) std::this_thread::yield();
    return {};
  }
  std::string address() const override { return address_; }

 private:
  void set_up() {
    new_task_queue = [this] { return new BoundedQueue(limits_.threads, limits_.waiting_max); };
    // Not SO_REUSEPORT, httplib's default: a second process on the same port must fail.
    set_socket_options([](socket_t fd) {
      const int on = 1;
      ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    });
    set_tcp_nodelay(true);
    set_payload_max_length(limits_.body_bytes_max);
    set_pre_routing_handler([this](const httplib::Request& in, httplib::Response& out) { return pre_route(in, out); });
    const auto handle = [this](const httplib::Request& in, httplib::Response& out) {
      HttpRequest request = head_of(in);
      request.body = in.body;
      give(handler_(request), out);
    };
    Get("/.*", handle);
    Post("/.*", handle);
    Put("/.*", handle);
    Delete("/.*", handle);
  }

  HandlerResponse pre_route(const httplib::Request& in, httplib::Response& out) {
    std::optional<HttpAnswer> answer;
    if (in.target.size() > limits_.target_bytes_max) {
      answer = HttpAnswer{414, "application/json", R"({"code":"invalid_argument","message":"the target is too long"})"};
    } else {
      answer = guard_(head_of(in));
    }
    if (!answer) {
      current_stream->allow_body();
      return HandlerResponse::Unhandled;
    }
    // The body, if any, is not read: what follows on this connection cannot be told apart from it.
    out.set_header("Connection", "close");
    give(*answer, out);
    unread_body_ = true;
    return HandlerResponse::Handled;
  }

  bool process_and_close_socket(socket_t fd) override {
    if (!refuse_connection) serve(fd);
    ::shutdown(fd, SHUT_RDWR);
    ::close(fd);
    return true;
  }

  void serve(socket_t fd) {
    BoundedStream stream(fd, limits_, clock_);
    current_stream = &stream;
    unread_body_ = false;
    bool closed = false;
    for (size_t left = limits_.requests_per_connection_max; left > 0 && !closed && !unread_body_; --left) {
      if (!wait_for_request(stream) || !process_request(stream, left == 1, closed, nullptr)) break;
    }
    current_stream = nullptr;
  }

  bool wait_for_request(BoundedStream& stream) {
    const MonoTime until = clock_.now() + Millis(limits_.keep_alive_ms);
    while (svr_sock_ != INVALID_SOCKET && !stream.ended() && clock_.now() < until) {
      if (stream.next_request(kLookUpEveryMs)) return true;
    }
    return false;
  }

  static thread_local bool unread_body_;
  const HttpLimits limits_;
  const Guard guard_;
  const HttpServer::Handler handler_;
  SystemClock clock_;
  std::string address_;
  std::thread thread_;
};

thread_local bool Server::unread_body_ = false;

}  // namespace

Result<std::unique_ptr<HttpServer>> HttpServer::start(const std::string& listen, const HttpLimits& limits, Guard guard,
                                                      Handler handler) {
  SLIPRING_ASSIGN(const HostPort address, parse_host_port(listen, true));
  auto server = std::make_unique<Server>(limits, std::move(guard), std::move(handler));
  SLIPRING_TRY(server->listen_on(address));
  return server;
}

}  // namespace slipring::control
