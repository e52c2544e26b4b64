// What a store server says of itself, gathered once and judged by pure rules (rebalance/preflight.h).
// Thread-safety: values.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace slipring {

// The identity under which a feed and a copy are valid: any change means another process, or the same one after a
// restart, a promotion or a demotion.
struct ServerIdentity {
  std::string run_id;
  std::string role;  // "master" or "slave", as the server quotes it
  std::string repl_id;

  bool operator==(const ServerIdentity&) const = default;
};

// One connected client that is neither a replica nor one of Slipring's own connections.
struct ForeignClient {
  std::string address;
  std::string user;
  std::string name;
  bool blocked = false;
  std::string last_command;  // "get"
};

struct ServerFacts {
  std::string address;
  ServerIdentity identity;
  std::string version;  // "7.0.15"
  bool cluster_mode = false;
  bool loading = false;
  uint64_t used_memory_bytes = 0;
  uint64_t max_memory_bytes = 0;  // 0 = no limit
  uint64_t system_memory_bytes = 0;
  std::string max_memory_policy;
  uint64_t evicted_keys = 0;
  bool append_only = false;
  std::string append_fsync;
  bool saves_rdb = false;  // a save rule is configured
  bool background_save_running = false;
  uint64_t connected_replicas = 0;
  uint64_t min_replicas_to_write = 0;
  bool diskless_sync = false;
  uint64_t diskless_sync_delay_s = 0;
  uint64_t diskless_sync_max_replicas = 0;
  bool backlog_active = false;
  uint64_t replication_offset = 0;
  uint64_t total_forks = 0;
  uint64_t function_libraries = 0;
  uint64_t max_bulk_bytes = 0;   // proto-max-bulk-len
  bool has_acl = true;
  bool users_persisted = false;  // aclfile or config file: deleted users must be written there
  std::map<uint32_t, uint64_t> keys_by_database;
  int64_t clock_ahead_ms = 0;  // TIME minus our clock, half the round trip taken off
  std::vector<ForeignClient> foreign_clients;

  uint64_t keys() const {
    uint64_t n = 0;
    for (const auto& [database, keys] : keys_by_database) n += keys;
    return n;
  }
};

}  // namespace slipring
