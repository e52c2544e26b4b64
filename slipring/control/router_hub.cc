#include "slipring/control/router_hub.h"

#include <fmt/format.h>

#include "slipring/base/log.h"
#include "slipring/base/parse.h"

namespace slipring::control {
namespace {

constexpr size_t kHubReadBytes = 64u << 10;
constexpr Millis kHeartbeatEvery{channel::kHeartbeatEveryMs};

}  // namespace

struct RouterHub::Connection : net::IoHandler {
  Connection(RouterHub& owner, ConnectionId connection_id, net::UniqueFd socket, MonoTime now)
      : IoHandler([](IoHandler& self, uint32_t events) {
          auto& c = static_cast<Connection&>(self);
          c.hub.on_ready(c, events);
        }),
        hub(owner),
        id(connection_id),
        fd_owner(std::move(socket)),
        out(owner.pool_),
        opened(now) {
    fd = fd_owner.get();
  }
  RouterHub& hub;
  ConnectionId id;
  net::UniqueFd fd_owner;
  channel::FrameDecoder decoder{channel::kRouterFrameBytesMax};
  size_t received = 0;  // before Hello was accepted
  net::Buffer out;
  uint64_t sequence = 0;
  MonoTime opened;
  bool welcomed = false;
  uint64_t term = 0;
  bool closing = false;  // close when out is empty
};

RouterHub::Acceptor::Acceptor(RouterHub& owner)
    : IoHandler([](IoHandler& self, uint32_t) { static_cast<Acceptor&>(self).hub.accept_all(); }), hub(owner) {}

RouterHub::RouterHub(const Clock& clock, Listener& listener)
    : clock_(clock), listener_(listener), loop_(clock), acceptor_(*this) {}

Result<std::unique_ptr<RouterHub>> RouterHub::bind(std::string_view listen, const Clock& clock, Listener& listener) {
  std::unique_ptr<RouterHub> hub(new RouterHub(clock, listener));
  SLIPRING_TRY(hub->open(listen));
  return hub;
}

void RouterHub::serve() {
  thread_ = std::thread([this] { loop_.run(); });
}

void RouterHub::stop() {
  loop_.stop();
  if (thread_.joinable()) thread_.join();
}

Status RouterHub::open(std::string_view listen) {
  SLIPRING_ASSIGN(const HostPort wanted, parse_host_port(listen, true));
  SLIPRING_ASSIGN(const net::SocketAddress address, net::resolve(wanted));
  SLIPRING_ASSIGN(listener_fd_, net::listen_tcp(address, false));
  SLIPRING_ASSIGN(const net::SocketAddress bound, net::local_address(listener_fd_.get()));
  address_ = net::format_address(bound);
  SLIPRING_TRY(loop_.open());
  acceptor_.fd = listener_fd_.get();
  SLIPRING_TRY(loop_.watch(acceptor_, EPOLLIN));
  heartbeat_ = std::make_unique<net::Timer>(loop_, [this] { beat(); });
  heartbeat_->arm(kHeartbeatEvery);
  loop_.at_turn_end([this] { closed_.clear(); });
  return {};
}

RouterHub::~RouterHub() {
  stop();
  connections_.clear();
}

void RouterHub::send(ConnectionId connection, channel::Message message) {
  loop_.post([this, connection, message = std::move(message)] {
    Connection* c = find(connection);
    if (c == nullptr || c->closing) return;
    c->out.append(channel::encode(message, ++c->sequence));
    write(*c);
  });
}

void RouterHub::welcome(ConnectionId connection, uint64_t term) {
  loop_.post([this, connection, term] {
    Connection* c = find(connection);
    if (c == nullptr) return;
    c->welcomed = true;
    c->term = term;
  });
}

void RouterHub::drop(ConnectionId connection) {
  loop_.post([this, connection] {
    Connection* c = find(connection);
    if (c == nullptr) return;
    c->closing = true;
    write(*c);
  });
}

std::optional<MonoTime> RouterHub::heard(ConnectionId connection) const {
  const std::lock_guard lock(heard_mutex_);
  const auto it = heard_.find(connection);
  return it == heard_.end() ? std::nullopt : std::optional(it->second);
}

RouterHub::Connection* RouterHub::find(ConnectionId id) {
  const auto it = connections_.find(id);
  return it == connections_.end() ? nullptr : it->second.get();
}

void RouterHub::accept_all() {
  for (;;) {
    net::UniqueFd fd(::accept4(listener_fd_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!fd) return;
    if (connections_.size() >= kConnectionsMax) continue;
    add(std::move(fd));
  }
}

void RouterHub::add(net::UniqueFd fd) {
  net::set_no_delay(fd.get());
  const ConnectionId id = next_id_++;
  auto c = std::make_unique<Connection>(*this, id, std::move(fd), loop_.now());
  if (!loop_.watch(*c, EPOLLIN)) return;
  connections_.emplace(id, std::move(c));
  const std::lock_guard lock(heard_mutex_);
  heard_[id] = clock_.now();
}

void RouterHub::on_ready(Connection& c, uint32_t events) {
  if (c.fd >= 0 && (events & EPOLLOUT) != 0) write(c);
  if (c.fd >= 0 && (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) read(c);
}

void RouterHub::read(Connection& c) {
  char bytes[kHubReadBytes];
  const net::IoResult got = net::read_some(c.fd, bytes, sizeof bytes);
  if (got.state == net::IoState::kFull) return;
  if (got.state == net::IoState::kClosed) return close(c);
  if (!c.welcomed && (c.received += got.bytes) > kHelloBytesMax) return close(c);
  c.decoder.feed({bytes, got.bytes});
  {
    const std::lock_guard lock(heard_mutex_);
    heard_[c.id] = clock_.now();
  }
  deliver(c);
}

void RouterHub::deliver(Connection& c) {
  for (;;) {
    auto message = c.decoder.next();
    if (!message) {
      log(LogLevel::kWarn, "control", "channel: a router's message was refused: {}", message.error().message);
      return close(c);
    }
    if (!message->has_value()) return;
    listener_.on_message(c.id, std::move(**message));
  }
}

void RouterHub::write(Connection& c) {
  while (!c.out.empty()) {
    const net::IoResult sent = net::write_some(c.fd, c.out.view());
    if (sent.state == net::IoState::kClosed) return close(c);
    if (sent.state == net::IoState::kFull) {
      if (c.out.size() > kOutputBytesMax || !loop_.watch(c, EPOLLIN | EPOLLOUT)) close(c);
      return;
    }
    c.out.consume(sent.bytes);
  }
  if (c.closing) return close(c);
  if (c.armed != EPOLLIN && !loop_.watch(c, EPOLLIN)) close(c);
}

void RouterHub::close(Connection& c) {
  if (c.fd < 0) return;
  loop_.unwatch(c);
  c.fd = -1;
  c.fd_owner.reset();
  const ConnectionId id = c.id;
  const auto it = connections_.find(id);
  closed_.push_back(std::move(it->second));
  connections_.erase(it);
  {
    const std::lock_guard lock(heard_mutex_);
    heard_.erase(id);
  }
  listener_.on_gone(id);
}

void RouterHub::beat() {
  std::vector<Connection*> late;
  for (auto& [id, c] : connections_) {
    if (c->welcomed) {
      c->out.append(channel::encode(channel::ControllerHeartbeat{c->term}, ++c->sequence));
    } else if (loop_.now() - c->opened > kHelloTimeout) {
      late.push_back(c.get());
    }
  }
  for (Connection* c : late) close(*c);
  std::vector<Connection*> all;
  for (auto& [id, c] : connections_) all.push_back(c.get());
  for (Connection* c : all) write(*c);
  heartbeat_->arm(kHeartbeatEvery);
}

}  // namespace slipring::control
