// Clients that write through the routers without pause and know what they were told: counters that rise by one, lists
// that grow in order, values that are replaced. An answer that never came leaves both outcomes open; every other answer
// must fit, and at the end every key must hold what was acknowledged.
// Thread-safety: one owner; it runs threads of its own.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "slipring/store/redis/client.h"
#include "tests/support/cluster.h"

namespace slipring::testing {

class Load {
 public:
  // `threads` clients, each with `keys` keys of its own, spread over the cluster's routers 1 to `routers`.
  Load(Cluster& cluster, int routers, int threads = 2, int keys = 100, const std::string& prefix = "load");
  ~Load();

  // Ends the clients; what was wrong while they ran and in the final reading, one line each.
  std::vector<std::string> finish();
  uint64_t acknowledged() const { return acknowledged_; }
  // Answers that were errors, and connections that broke.
  uint64_t errors() const { return errors_; }
  std::string last_error() const;
  size_t key_count() const;

 private:
  struct Key {
    std::string name;
    int64_t acknowledged = 0;
    int64_t possible = 0;  // acknowledged and those whose outcome is unknown
  };
  void run(int thread);
  bool step(redis::Client& client, Key& key, int kind);
  void wrong(std::string what);
  void note_error(const std::string& what);
  void check(redis::Client& client, const Key& key, int kind);

  Cluster& cluster_;
  const int routers_;
  std::vector<std::vector<Key>> keys_;  // by thread
  std::atomic<bool> stop_{false};
  std::atomic<uint64_t> acknowledged_{0};
  std::atomic<uint64_t> errors_{0};
  mutable std::mutex mutex_;
  std::vector<std::string> wrong_;
  std::string last_error_;
  std::vector<std::thread> threads_;
};

}  // namespace slipring::testing
