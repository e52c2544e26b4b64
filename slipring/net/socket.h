// Plain TCP: addresses, listeners, nonblocking connects, reads and writes with their outcomes as small values.
// Thread-safety: free functions.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "slipring/base/parse.h"
#include "slipring/base/result.h"
#include "slipring/net/fd.h"

namespace slipring::net {

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t length = 0;
};

// nullopt if the host is a name rather than an IPv4 or IPv6 address.
std::optional<SocketAddress> numeric_address(const HostPort& address);
// Names as well; may block for as long as the resolver takes. kUnavailable: not found.
Result<SocketAddress> resolve(const HostPort& address);
// "127.0.0.1:6400" or "[::1]:6400".
std::string format_address(const SocketAddress& address);

// A nonblocking listening socket; with reuse_port several may share an address. kUnavailable: the address is taken or
// not ours.
Result<UniqueFd> listen_tcp(const SocketAddress& address, bool reuse_port);
// True if someone listens on the address already (what reuse_port would hide).
bool is_taken(const SocketAddress& address);
Result<SocketAddress> local_address(int fd);
uint16_t port_of(const SocketAddress& address);

// Starts a nonblocking connect; writable means done, connect_error() says how. kUnavailable: refused at once.
Result<UniqueFd> start_connect(const SocketAddress& address);
// 0 = connected, else the errno.
int connect_error(int fd);
// No delay for small writes.
void set_no_delay(int fd);

enum class IoState : uint8_t { kOk, kFull, kClosed };
struct IoResult {
  IoState state = IoState::kOk;
  size_t bytes = 0;
  int error = 0;  // errno when closed by an error; 0 = the peer ended the stream
};
// One read(2) or send(2). kFull: would block.
IoResult read_some(int fd, char* into, size_t bytes_max);
IoResult write_some(int fd, std::string_view bytes);

}  // namespace slipring::net
