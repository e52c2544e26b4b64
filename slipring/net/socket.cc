#include "slipring/net/socket.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/tcp.h>

#include <cerrno>
#include <cstring>

namespace slipring::net {
namespace {

constexpr int kListenBacklog = 1024;

Result<UniqueFd> open_socket(const SocketAddress& address) {
  UniqueFd fd(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) return fail(Code::kResourceExhausted, fmt::format("socket: {}", std::strerror(errno)));
  return fd;
}

const sockaddr* raw(const SocketAddress& address) {
  return reinterpret_cast<const sockaddr*>(&address.storage);
}

void set_flag(int fd, int level, int option) {
  const int on = 1;
  ::setsockopt(fd, level, option, &on, sizeof on);
}

}  // namespace

std::optional<SocketAddress> numeric_address(const HostPort& address) {
  SocketAddress result;
  auto* v4 = reinterpret_cast<sockaddr_in*>(&result.storage);
  if (::inet_pton(AF_INET, address.host.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(address.port);
    result.length = sizeof *v4;
    return result;
  }
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&result.storage);
  if (::inet_pton(AF_INET6, address.host.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(address.port);
    result.length = sizeof *v6;
    return result;
  }
  return std::nullopt;
}

Result<SocketAddress> resolve(const HostPort& address) {
  if (auto numeric = numeric_address(address)) return *numeric;
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int rc = ::getaddrinfo(address.host.c_str(), nullptr, &hints, &found);
  if (rc != 0) return fail(Code::kUnavailable, fmt::format("resolve {}: {}", address.host, ::gai_strerror(rc)));
  SocketAddress result;
  std::memcpy(&result.storage, found->ai_addr, found->ai_addrlen);
  result.length = found->ai_addrlen;
  ::freeaddrinfo(found);
  // Both families keep the port at the same place.
  reinterpret_cast<sockaddr_in*>(&result.storage)->sin_port = htons(address.port);
  return result;
}

std::string format_address(const SocketAddress& address) {
  char text[INET6_ADDRSTRLEN] = "?";
  const bool v6 = address.storage.ss_family == AF_INET6;
  const void* host = v6 ? static_cast<const void*>(&reinterpret_cast<const sockaddr_in6*>(&address.storage)->sin6_addr)
                        : static_cast<const void*>(&reinterpret_cast<const sockaddr_in*>(&address.storage)->sin_addr);
  ::inet_ntop(address.storage.ss_family, host, text, sizeof text);
  return v6 ? fmt::format("[{}]:{}", text, port_of(address)) : fmt::format("{}:{}", text, port_of(address));
}

Result<UniqueFd> listen_tcp(const SocketAddress& address, bool reuse_port) {
  SLIPRING_ASSIGN(UniqueFd fd, open_socket(address));
  set_flag(fd.get(), SOL_SOCKET, SO_REUSEADDR);
  if (reuse_port) set_flag(fd.get(), SOL_SOCKET, SO_REUSEPORT);
  if (::bind(fd.get(), raw(address), address.length) != 0 || ::listen(fd.get(), kListenBacklog) != 0) {
    return fail(Code::kUnavailable, fmt::format("listen on {}: {}", format_address(address), std::strerror(errno)));
  }
  return fd;
}

bool is_taken(const SocketAddress& address) {
  return port_of(address) != 0 && !listen_tcp(address, false).has_value() && errno == EADDRINUSE;
}

Result<SocketAddress> local_address(int fd) {
  SocketAddress address;
  address.length = sizeof address.storage;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&address.storage), &address.length) != 0) {
    return fail(Code::kInternal, fmt::format("getsockname: {}", std::strerror(errno)));
  }
  return address;
}

uint16_t port_of(const SocketAddress& address) {
  return ntohs(reinterpret_cast<const sockaddr_in*>(&address.storage)->sin_port);
}

Result<UniqueFd> start_connect(const SocketAddress& address) {
  SLIPRING_ASSIGN(UniqueFd fd, open_socket(address));
  set_no_delay(fd.get());
  if (::connect(fd.get(), raw(address), address.length) != 0 && errno != EINPROGRESS) {
    return fail(Code::kUnavailable, std::strerror(errno));
  }
  return fd;
}

int connect_error(int fd) {
  int error = 0;
  socklen_t length = sizeof error;
  if (::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) != 0) return errno;
  return error;
}

void set_no_delay(int fd) {
  set_flag(fd, IPPROTO_TCP, TCP_NODELAY);
}

namespace {

IoResult outcome(ssize_t n) {
  if (n >= 0) return {IoState::kOk, static_cast<size_t>(n), 0};
  if (errno == EAGAIN || errno == EINTR) return {IoState::kFull, 0, 0};
  return {IoState::kClosed, 0, errno};
}

}  // namespace

IoResult read_some(int fd, char* into, size_t bytes_max) {
  const IoResult result = outcome(::recv(fd, into, bytes_max, 0));
  if (result.state == IoState::kOk && result.bytes == 0) return {IoState::kClosed, 0, 0};
  return result;
}

IoResult write_some(int fd, std::string_view bytes) {
  return outcome(::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL));
}

}  // namespace slipring::net
