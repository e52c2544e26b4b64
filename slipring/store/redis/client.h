// A blocking Redis client for the mover and the controller: one connection, RESP2, pipelines, every call bounded by a
// time-out. A refused AUTH ends the connection before anything else is sent on it (a command pipelined behind a refused
// AUTH would run as `default`).
//
// Invariant: after an I/O error or a time-out the connection is closed; a reply is never matched to a later request.
// Thread-safety: one owner; shutdown() may be called from another thread.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "slipring/base/clock.h"
#include "slipring/base/result.h"
#include "slipring/net/blocking_stream.h"

namespace slipring::redis {

struct Reply {
  enum class Type { kSimple, kError, kInteger, kBulk, kNull, kArray };
  Type type = Type::kNull;
  std::string text;     // simple, error, bulk
  int64_t integer = 0;  // integer
  std::vector<Reply> items;

  bool is_error() const { return type == Type::kError; }
  bool is_null() const { return type == Type::kNull; }
};

// The text of INFO as field -> value.
std::map<std::string, std::string> parse_info(std::string_view text);

// The reply as a Result: an error reply becomes an Error (kPermissionDenied for NOPERM, kUnauthenticated for NOAUTH and
// WRONGPASS, kUnavailable for LOADING, BUSY, MASTERDOWN and TRYAGAIN, kResourceExhausted for OOM, else
// kFailedPrecondition) with the server's text.
Result<Reply> as_result(Reply reply);

struct Endpoint {
  std::string address;
  std::string user;  // empty: no AUTH
  std::string password;
  std::string name;  // CLIENT SETNAME; empty: none
  Millis connect_timeout{1000};
  Millis io_timeout{5000};
  // Asked once the server has confirmed the name, before the connection is used; an error ends it. Empty: nothing.
  std::function<Status()> confirm = {};
};

class Client {
 public:
  Client() = default;
  // Connected, authenticated and named.
  static Result<Client> connect(const Endpoint& endpoint);

  // Sends one command and reads its reply (error replies are replies).
  Result<Reply> command(std::initializer_list<std::string_view> args);
  Result<Reply> command(std::span<const std::string_view> args);
  // As command(), with error replies as errors.
  Result<Reply> call(std::initializer_list<std::string_view> args);
  Result<Reply> call(std::span<const std::string_view> args);

  // Pipelining: append any number of commands, flush, read as many replies.
  void append(std::initializer_list<std::string_view> args);
  void append(std::span<const std::string_view> args);
  Status flush();
  Result<Reply> read_reply();
  size_t appended_bytes() const { return out_.size(); }

  // For the replication stream after PSYNC: raw bytes as they come, what was buffered first.
  Result<size_t> read_raw(std::string& into, Millis timeout);
  Status write_raw(std::string_view bytes);

  // INFO of a section as field -> value.
  Result<std::map<std::string, std::string>> info(std::string_view section);

  bool open() const { return stream_.open(); }
  void shutdown() { stream_.shutdown(); }
  void close() { stream_.close(); }
  const Endpoint& endpoint() const { return endpoint_; }

 private:
  Status fill();
  Endpoint endpoint_;
  net::BlockingStream stream_;
  std::string out_;
  std::string in_;
  size_t parsed_ = 0;  // bytes of in_ that were consumed
};

}  // namespace slipring::redis
