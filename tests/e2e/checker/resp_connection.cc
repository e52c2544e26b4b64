#include "tests/e2e/checker/resp_connection.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>

namespace slipring::checker {

bool Connection::connect(uint16_t port) {
  close();
  fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int on = 1;
  ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  const timeval timeout{kTimeoutSeconds, 0};
  ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
  ::setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
  if (::connect(fd_, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0) return true;
  close();
  return false;
}

void Connection::close() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
  out_.clear();
  in_.clear();
  at_ = 0;
}

void Connection::queue(const std::vector<std::string>& command) {
  out_ += "*" + std::to_string(command.size()) + "\r\n";
  for (const std::string& argument : command) {
    out_ += "$" + std::to_string(argument.size()) + "\r\n" + argument + "\r\n";
  }
}

bool Connection::flush() {
  for (size_t sent = 0; sent < out_.size();) {
    const ssize_t n = ::send(fd_, out_.data() + sent, out_.size() - sent, MSG_NOSIGNAL);
    if (n <= 0) return false;
    sent += static_cast<size_t>(n);
  }
  out_.clear();
  return true;
}

bool Connection::fill() {
  if (at_ > 0) {
    in_.erase(0, at_);
    at_ = 0;
  }
  char buffer[64 << 10];
  const ssize_t n = ::recv(fd_, buffer, sizeof buffer, 0);
  if (n <= 0) return false;
  in_.append(buffer, static_cast<size_t>(n));
  return true;
}

std::optional<std::string_view> Connection::line() {
  for (;;) {
    const size_t end = in_.find("\r\n", at_);
    if (end != std::string::npos) {
      const std::string_view text(in_.data() + at_, end - at_);
      at_ = end + 2;
      return text;
    }
    if (!fill()) return std::nullopt;
  }
}

std::optional<Reply> Connection::read() {
  return read_value(0);
}

std::optional<Reply> Connection::read_value(int depth) {
  const auto head = line();
  if (!head || head->empty() || depth > 8) return std::nullopt;
  const char type = head->front();
  Reply reply;
  reply.text = head->substr(1);
  if (type == '+') reply.type = Reply::Type::kStatus;
  if (type == '-') reply.type = Reply::Type::kError;
  if (type == '+' || type == '-') return reply;
  reply.integer = std::strtoll(reply.text.c_str(), nullptr, 10);
  reply.text.clear();
  if (type == ':') {
    reply.type = Reply::Type::kInteger;
    return reply;
  }
  if ((type != '$' && type != '*') || reply.integer < 0) {
    return type == '$' || type == '*' ? std::optional(reply) : std::nullopt;
  }
  if (type == '$') {
    const size_t size = static_cast<size_t>(reply.integer);
    while (in_.size() - at_ < size + 2) {
      if (!fill()) return std::nullopt;
    }
    reply.type = Reply::Type::kBulk;
    reply.text = in_.substr(at_, size);
    at_ += size + 2;
    return reply;
  }
  reply.type = Reply::Type::kArray;
  for (int64_t i = 0; i < reply.integer; ++i) {
    auto item = read_value(depth + 1);
    if (!item) return std::nullopt;
    reply.items.push_back(std::move(*item));
  }
  return reply;
}

}  // namespace slipring::checker
