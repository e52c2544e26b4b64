#include "slipring/net/blocking_stream.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <mutex>

#include "slipring/base/parse.h"

namespace slipring::net {
namespace {

using AddressList = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

Result<AddressList> resolve(std::string_view address) {
  SLIPRING_ASSIGN(const HostPort target, parse_host_port(address));
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int rc = getaddrinfo(target.host.c_str(), std::to_string(target.port).c_str(), &hints, &found);
  if (rc != 0) return fail(Code::kUnavailable, fmt::format("resolve {}: {}", address, gai_strerror(rc)));
  return AddressList(found, &freeaddrinfo);
}

// Waits until the descriptor is ready for `events`; false when the time is over.
Result<bool> wait_ready(int fd, short events, Millis timeout) {
  pollfd p{fd, events, 0};
  const int n = ::poll(&p, 1, static_cast<int>(std::clamp<int64_t>(timeout.count(), 0, 1 << 30)));
  if (n < 0 && errno != EINTR) return fail(Code::kUnavailable, fmt::format("poll: {}", std::strerror(errno)));
  return n > 0;
}

Result<int> connect_one(const addrinfo& to, std::string_view address, Millis timeout) {
  const int fd = ::socket(to.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return fail(Code::kResourceExhausted, fmt::format("socket: {}", std::strerror(errno)));
  int error = ::connect(fd, to.ai_addr, to.ai_addrlen) == 0 ? 0 : errno;
  if (error == EINPROGRESS) {
    auto ready = wait_ready(fd, POLLOUT, timeout);
    socklen_t size = sizeof error;
    if (ready && *ready) getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
    if (!ready || !*ready) error = ETIMEDOUT;
  }
  if (error != 0) {
    ::close(fd);
    return fail(Code::kUnavailable, fmt::format("connect {}: {}", address, std::strerror(error)));
  }
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return fd;
}

}  // namespace

// The owner alone changes `fd`, under the mutex: who else shuts it down must not meet a number that is another
// connection's by then.
struct BlockingStream::Socket {
  explicit Socket(int connected) : fd(connected) {}
  ~Socket() { close(); }
  void close() {
    const std::lock_guard lock(mutex);
    if (fd >= 0) ::close(fd);
    fd = -1;
  }
  std::mutex mutex;
  int fd;
};

BlockingStream::BlockingStream() = default;
BlockingStream::BlockingStream(BlockingStream&& other) noexcept = default;
BlockingStream& BlockingStream::operator=(BlockingStream&& other) noexcept = default;
BlockingStream::~BlockingStream() = default;

int BlockingStream::fd() const {
  return socket_ != nullptr ? socket_->fd : -1;
}

Result<BlockingStream> BlockingStream::connect(std::string_view address, Millis timeout) {
  SLIPRING_ASSIGN(const AddressList list, resolve(address));
  Result<int> fd = fail(Code::kUnavailable, fmt::format("connect {}: no address", address));
  for (const addrinfo* to = list.get(); to != nullptr && !fd; to = to->ai_next) fd = connect_one(*to, address, timeout);
  if (!fd) return fail(fd.error());
  BlockingStream stream;
  stream.socket_ = std::make_unique<Socket>(*fd);
  return stream;
}

Status BlockingStream::write(std::string_view bytes, Millis timeout) {
  while (!bytes.empty()) {
    if (fd() < 0) return fail(Code::kUnavailable, "connection is closed");
    const ssize_t n = ::send(fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n > 0) {
      bytes.remove_prefix(static_cast<size_t>(n));
    } else if (n < 0 && errno == EAGAIN) {
      SLIPRING_ASSIGN(const bool ready, wait_ready(fd(), POLLOUT, timeout));
      if (ready) continue;
      close();
      return fail(Code::kDeadlineExceeded, "peer takes no more bytes");
    } else if (errno != EINTR) {
      const int error = errno;
      close();
      return fail(Code::kUnavailable, fmt::format("send: {}", std::strerror(error)));
    }
  }
  return {};
}

Result<size_t> BlockingStream::read_some(std::string& into, size_t max_bytes, Millis timeout) {
  if (fd() < 0) return fail(Code::kUnavailable, "connection is closed");
  SLIPRING_ASSIGN(const bool ready, wait_ready(fd(), POLLIN, timeout));
  if (!ready) return fail(Code::kDeadlineExceeded, "no answer in time");
  const size_t before = into.size();
  into.resize(before + max_bytes);
  ssize_t n = 0;
  do {
    n = ::recv(fd(), into.data() + before, max_bytes, 0);
  } while (n < 0 && errno == EINTR);
  into.resize(before + static_cast<size_t>(std::max<ssize_t>(n, 0)));
  if (n > 0) return static_cast<size_t>(n);
  if (n < 0 && errno == EAGAIN) return fail(Code::kDeadlineExceeded, "no answer in time");
  const std::string why = n == 0 ? "closed by the peer" : std::strerror(errno);
  close();
  return fail(Code::kUnavailable, why);
}

void BlockingStream::end_writing() {
  if (fd() >= 0) ::shutdown(fd(), SHUT_WR);
}

void BlockingStream::shutdown() {
  if (socket_ == nullptr) return;
  const std::lock_guard lock(socket_->mutex);
  if (socket_->fd >= 0) ::shutdown(socket_->fd, SHUT_RDWR);
}

void BlockingStream::close() {
  if (socket_ != nullptr) socket_->close();
}

}  // namespace slipring::net
