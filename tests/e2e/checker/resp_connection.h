// A blocking RESP2 client connection of the checker: commands go out together, replies come back in order.
// Thread-safety: one owner.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipring::checker {

struct Reply {
  enum class Type { kStatus, kError, kInteger, kBulk, kNull, kArray };
  Type type = Type::kNull;
  std::string text;
  int64_t integer = 0;
  std::vector<Reply> items;

  bool is_error() const { return type == Type::kError; }
};

class Connection {
 public:
  Connection() = default;
  ~Connection() { close(); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // False: nobody listens on 127.0.0.1:port.
  bool connect(uint16_t port);
  void close();
  bool open() const { return fd_ >= 0; }

  void queue(const std::vector<std::string>& command);
  // Sends what was queued. False: the connection broke; what was sent has an unknown outcome.
  bool flush();
  // The next reply; nullopt: the connection broke or gave no reply within `timeout_s`.
  std::optional<Reply> read();

  static constexpr int kTimeoutSeconds = 60;

 private:
  bool fill();
  std::optional<std::string_view> line();
  std::optional<Reply> read_value(int depth);

  int fd_ = -1;
  std::string out_;
  std::string in_;
  size_t at_ = 0;
};

}  // namespace slipring::checker
