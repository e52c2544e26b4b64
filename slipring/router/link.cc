#include "slipring/router/link.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "slipring/base/log.h"
#include "slipring/base/parse.h"
#include "slipring/net/fd.h"
#include "slipring/net/socket.h"

namespace slipring::router {
namespace {

constexpr int64_t kRetryMsMin = 50;
constexpr int64_t kRetryMsMax = 1000;
constexpr Millis kConnectTimeout{1000};

}  // namespace

Link::Link(net::EventLoop& loop, LinkObserver& observer, std::vector<std::string> controllers, uint64_t seed)
    : IoHandler([](IoHandler& self, uint32_t events) { static_cast<Link&>(self).on_events(events); }),
      loop_(loop),
      observer_(observer),
      controllers_(std::move(controllers)),
      random_(seed),
      out_(pool_),
      retry_(loop, [this] { connect(); }),
      beat_(loop, [this] { beat(); }) {}

Link::~Link() {
  close();
}

void Link::start() {
  if (!controllers_.empty()) retry_.arm(Nanos(0));
}

void Link::stop() {
  retry_.cancel();
  close();
}

void Link::connect() {
  const std::string target = leader_.empty() ? controllers_[next_++ % controllers_.size()] : std::exchange(leader_, "");
  heard_ = loop_.now();
  const auto address = parse_host_port(target);
  const auto resolved = address ? net::resolve(*address) : Result<net::SocketAddress>(fail(address.error()));
  if (!resolved) return drop(fmt::format("controller {}: {}", target, resolved.error().message));
  auto socket = net::start_connect(*resolved);
  if (!socket) return drop(fmt::format("controller {}: {}", target, socket.error().message));
  fd = socket->release();
  state_ = State::kConnecting;
  beat_.arm(Millis(channel::kHeartbeatEveryMs));
  if (auto watched = loop_.watch(*this, EPOLLOUT); !watched) drop(watched.error().message);
}

void Link::on_events(uint32_t events) {
  if (state_ == State::kConnecting) return introduce();
  if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) read();
  if (fd >= 0 && (events & EPOLLOUT) != 0) flush();
}

void Link::introduce() {
  const int error = net::connect_error(fd);
  if (error != 0) return drop(fmt::format("controller: {}", std::strerror(error)));
  state_ = State::kOpen;
  sequence_ = 0;
  decoder_ = channel::FrameDecoder();
  send(observer_.hello());
}

bool Link::send(const channel::Message& message) {
  if (state_ != State::kOpen) return false;
  out_.append(channel::encode(message, ++sequence_));
  flush();
  return true;
}

void Link::flush() {
  if (!out_.empty()) {
    const net::IoResult sent = net::write_some(fd, out_.view());
    if (sent.state == net::IoState::kClosed) return drop("controller: connection lost");
    out_.consume(sent.bytes);
  }
  const uint32_t events = out_.empty() ? EPOLLIN : EPOLLIN | EPOLLOUT;
  if (auto watched = loop_.watch(*this, events); !watched) drop(watched.error().message);
}

void Link::read() {
  std::array<char, 64 << 10> bytes;
  const net::IoResult got = net::read_some(fd, bytes.data(), bytes.size());
  if (got.state == net::IoState::kFull) return;
  if (got.state == net::IoState::kClosed) return drop("controller: connection closed");
  heard_ = loop_.now();
  decoder_.feed({bytes.data(), got.bytes});
  take_messages();
}

void Link::take_messages() {
  const uint64_t connection = connection_;
  while (connection == connection_) {
    auto message = decoder_.next();
    if (!message) return drop(fmt::format("controller: {}", message.error().message));
    if (!message->has_value()) return;
    if (const auto* refused = std::get_if<channel::Refused>(&**message)) return follow(*refused);
    tries_ = 0;
    observer_.on_message(**message);
  }
}

void Link::follow(const channel::Refused& refused) {
  leader_ = refused.leader;
  drop(fmt::format("controller refuses: {}", refused.reason));
}

void Link::beat() {
  beat_.arm(Millis(channel::kHeartbeatEveryMs));
  const Millis silent = std::chrono::duration_cast<Millis>(loop_.now() - heard_);
  if (state_ == State::kConnecting && silent >= kConnectTimeout) return drop("controller: no answer to the connection");
  if (silent >= Millis(channel::kHeartbeatTimeoutMs)) return drop("controller: silent");
  if (state_ == State::kOpen) send(channel::RouterHeartbeat{observer_.heartbeat()});
}

void Link::drop(const std::string& reason) {
  close();
  const int64_t longest = std::min(kRetryMsMax, kRetryMsMin << std::min(tries_++, 10u));
  retry_.arm(Millis(longest - static_cast<int64_t>(random_.below(static_cast<uint64_t>(longest / 2)))));
  observer_.on_lost(reason);
}

void Link::close() {
  ++connection_;
  state_ = State::kIdle;
  beat_.cancel();
  out_.clear();
  if (fd < 0) return;
  loop_.unwatch(*this);
  net::UniqueFd(std::exchange(fd, -1)).reset();
}

}  // namespace slipring::router
