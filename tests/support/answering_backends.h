// Backends that say who they are: n listeners on loopback addresses of their own, in one thread. Each answers
// memcached's `get KEY` with its index as the value, and any HTTP GET with its index as the body; so a client behind a
// proxy learns where the proxy sent a key. Thread-safety: one owner; the answering thread is its own.
#pragma once

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

namespace slipring::testing {

class AnsweringBackends {
 public:
  // Backend i listens on 127.x.y.(i+1), x and y taken from the process id, at `port` (0: a free one each).
  // check-fails if it cannot. REQUIRES: n < 250.
  explicit AnsweringBackends(size_t n, uint16_t port = 0);
  ~AnsweringBackends();
  AnsweringBackends(const AnsweringBackends&) = delete;
  AnsweringBackends& operator=(const AnsweringBackends&) = delete;

  size_t size() const { return listeners_.size(); }
  // "127.20.7.1:40123"
  const std::string& address(size_t i) const { return addresses_[i]; }
  // From now on connections to backend i are refused. REQUIRES: nothing was sent to it yet.
  void refuse(size_t i);

 private:
  void run();
  void start();
  void stop();

  std::vector<int> listeners_;
  std::vector<std::string> addresses_;
  int wake_[2] = {-1, -1};
  std::thread thread_;
};

// A blocking client's connection to 127.0.0.1:port. Thread-safety: one owner.
class AskingClient {
 public:
  // check-fails if nobody listens within 10 s.
  explicit AskingClient(uint16_t port);
  ~AskingClient();
  AskingClient(const AskingClient&) = delete;
  AskingClient& operator=(const AskingClient&) = delete;

  // What a backend answered: its index, or -1 for an error of the proxy.
  int memcached_get(const std::string& key);
  // GET / with the header X-Key: key.
  int http_get(const std::string& key);

 private:
  void send_all(const std::string& bytes);
  // Up to and with `end`.
  std::string read_until(const std::string& end);
  std::string read_bytes(size_t n);
  void read_more();

  int fd_ = -1;
  std::string buffer_;
};

}  // namespace slipring::testing
