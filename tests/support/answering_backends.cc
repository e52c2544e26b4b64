#include "tests/support/answering_backends.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <map>

#include "slipring/base/check.h"
#include "slipring/base/parse.h"
#include "tests/support/child_process.h"

namespace slipring::testing {
namespace {

sockaddr_in loopback(uint32_t host_order_address, uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(host_order_address);
  address.sin_port = htons(port);
  return address;
}

int new_socket() {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  SLIPRING_CHECK(fd >= 0, "socket");
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return fd;
}

int listen_on(uint32_t address, uint16_t port, std::string* text) {
  const int fd = new_socket();
  sockaddr_in where = loopback(address, port);
  SLIPRING_CHECK(bind(fd, reinterpret_cast<sockaddr*>(&where), sizeof where) == 0, "bind a loopback address");
  SLIPRING_CHECK(listen(fd, 512) == 0, "listen");
  socklen_t size = sizeof where;
  SLIPRING_CHECK(getsockname(fd, reinterpret_cast<sockaddr*>(&where), &size) == 0, "getsockname");
  char ip[INET_ADDRSTRLEN];
  inet_ntop(AF_INET, &where.sin_addr, ip, sizeof ip);
  *text = fmt::format("{}:{}", ip, ntohs(where.sin_port));
  return fd;
}

struct Connection {
  size_t backend = 0;
  std::string received;
};

// Takes one request off the front and answers it; false if none is complete. `close_after` is set by HTTP/1.0.
bool answer_one(int fd, Connection* connection, bool* close_after) {
  std::string& in = connection->received;
  const bool http = in.starts_with("GET ");
  const std::string end = http ? "\r\n\r\n" : "\r\n";
  const size_t at = in.find(end);
  if (at == in.npos) return false;
  const std::string request = in.substr(0, at);
  in.erase(0, at + end.size());
  const std::string index = std::to_string(connection->backend);
  std::string reply;
  if (http) {
    reply = fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{}", index.size(), index);
    *close_after = request.find(" HTTP/1.0\r\n") != request.npos;
  } else {
    const std::string key = request.substr(request.find(' ') + 1);
    reply = fmt::format("VALUE {} 0 {}\r\n{}\r\nEND\r\n", key.substr(0, key.find(' ')), index.size(), index);
  }
  return ::send(fd, reply.data(), reply.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(reply.size());
}

// False when the connection is to be closed.
bool serve(int fd, Connection* connection) {
  char bytes[4096];
  const ssize_t n = recv(fd, bytes, sizeof bytes, 0);
  if (n <= 0) return false;
  connection->received.append(bytes, static_cast<size_t>(n));
  bool close_after = false;
  while (answer_one(fd, connection, &close_after)) {
  }
  return !close_after;
}

}  // namespace

AnsweringBackends::AnsweringBackends(size_t n, uint16_t port) {
  SLIPRING_CHECK(n < 250, "one byte of the address tells the backend");
  const auto id = static_cast<uint32_t>(getpid());
  const uint32_t network = (127u << 24) | ((20 + id % 200) << 16) | ((id / 200 % 250) << 8);
  addresses_.resize(n);
  for (size_t i = 0; i < n; ++i)
    listeners_.push_back(listen_on(network + static_cast<uint32_t>(i) + 1, port, &addresses_[i]));
  start();
}

AnsweringBackends::~AnsweringBackends() {
  stop();
  for (const int fd : listeners_) {
    if (fd >= 0) close(fd);
  }
}

void AnsweringBackends::start() {
  SLIPRING_CHECK(pipe(wake_) == 0, "pipe");
  thread_ = std::thread([this] { run(); });
}

void AnsweringBackends::stop() {
  close(wake_[1]);
  thread_.join();
  close(wake_[0]);
}

void AnsweringBackends::refuse(size_t i) {
  stop();
  close(listeners_[i]);
  listeners_[i] = -1;
  start();
}

void AnsweringBackends::run() {
  std::map<int, Connection> connections;
  bool running = true;
  while (running) {
    std::vector<pollfd> polled = {{wake_[0], POLLIN, 0}};
    for (const int fd : listeners_) polled.push_back({fd, POLLIN, 0});
    for (const auto& [fd, connection] : connections) polled.push_back({fd, POLLIN, 0});
    if (poll(polled.data(), polled.size(), -1) < 0) continue;
    running = polled[0].revents == 0;
    for (size_t i = 0; i < listeners_.size(); ++i) {
      if (polled[1 + i].revents == 0) continue;
      const int fd = accept4(listeners_[i], nullptr, nullptr, SOCK_CLOEXEC);
      if (fd >= 0) connections[fd] = {i, {}};
    }
    for (size_t i = 1 + listeners_.size(); i < polled.size(); ++i) {
      if (polled[i].revents == 0 || serve(polled[i].fd, &connections[polled[i].fd])) continue;
      close(polled[i].fd);
      connections.erase(polled[i].fd);
    }
  }
  for (const auto& [fd, connection] : connections) close(fd);
}

AskingClient::AskingClient(uint16_t port) {
  const bool connected = eventually(30, [&] {
    if (fd_ >= 0) close(fd_);
    fd_ = new_socket();
    sockaddr_in where = loopback(INADDR_LOOPBACK, port);
    return connect(fd_, reinterpret_cast<sockaddr*>(&where), sizeof where) == 0;
  });
  SLIPRING_CHECK(connected, "the proxy listens");
  const timeval patience = {.tv_sec = 30, .tv_usec = 0};
  setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
}

AskingClient::~AskingClient() {
  close(fd_);
}

int AskingClient::memcached_get(const std::string& key) {
  send_all("get " + key + "\r\n");
  const std::string first = read_until("\r\n");
  if (!first.starts_with("VALUE ")) return -1;
  const std::string value = read_until("\r\n");
  read_until("END\r\n");
  return static_cast<int>(parse_i64(value.substr(0, value.size() - 2), 0, 1000).value_or(-1));
}

int AskingClient::http_get(const std::string& key) {
  send_all("GET / HTTP/1.1\r\nHost: h\r\nX-Key: " + key + "\r\n\r\n");
  std::string head = read_until("\r\n\r\n");
  for (char& c : head) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  const std::string mark = "content-length: ";
  const size_t at = head.find(mark);
  SLIPRING_CHECK(at != head.npos, "the proxy tells the length of the body");
  const size_t digits = at + mark.size();
  const auto length = parse_u64(head.substr(digits, head.find('\r', digits) - digits), 0, 1 << 20);
  SLIPRING_CHECK(length.has_value(), "length of the body");
  const std::string body = read_bytes(*length);
  if (head.find(" 200 ") == head.npos) return -1;
  return static_cast<int>(parse_i64(body, 0, 1000).value_or(-1));
}

void AskingClient::send_all(const std::string& bytes) {
  SLIPRING_CHECK(::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size()), "send");
}

std::string AskingClient::read_until(const std::string& end) {
  size_t at = 0;
  while ((at = buffer_.find(end)) == buffer_.npos) read_more();
  return read_bytes(at + end.size());
}

std::string AskingClient::read_bytes(size_t n) {
  while (buffer_.size() < n) read_more();
  std::string bytes = buffer_.substr(0, n);
  buffer_.erase(0, n);
  return bytes;
}

void AskingClient::read_more() {
  char bytes[4096];
  const ssize_t n = recv(fd_, bytes, sizeof bytes, 0);
  SLIPRING_CHECK(n > 0, "the proxy answers");
  buffer_.append(bytes, static_cast<size_t>(n));
}

}  // namespace slipring::testing
