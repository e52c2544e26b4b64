// Judges whether a plan may start: pure rules over what each server said of itself. Each rule is one finding with its
// reason and what to do; any finding that refuses keeps the plan from starting. The same rules are looked at again
// while the plan runs, where a setting may have changed.
//
// Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "slipring/store/server_facts.h"
#include "slipring/topology/snapshot.h"

namespace slipring::rebalance {

enum class Severity : uint8_t { kNote = 0, kWarn = 1, kRefuse = 2 };

struct Finding {
  Severity severity = Severity::kNote;
  std::string check;    // stable snake_case name of the rule
  std::string subject;  // "node n4 (10.0.0.4:6379)"
  std::string message;  // what is so
  std::string todo;     // what to do about it

  bool operator==(const Finding&) const = default;
};

bool refuses(const std::vector<Finding>& findings);

// Beyond this distance to the controller's clock an absolute expiry means another moment.
inline constexpr int64_t kClockAheadMsMax = 2000;
// What a copy needs beyond the bytes that move: allocator overhead and feed.
inline constexpr double kMemoryMargin = 1.3;
inline constexpr uint64_t kBigKeyBytesDefault = 8ull << 20;

// One server that takes part in the plan.
struct PreflightServer {
  std::string node;
  ServerFacts facts;
  bool is_source = false;
  bool is_target = false;
  bool is_new = false;                // joins with the plan: it must hold no keys of ours
  uint64_t keys_of_ours = 0;          // of is_new: keys found that match the pool's prefix
  uint64_t bytes_to_receive = 0;      // estimate
  std::vector<std::string> big_keys;  // above the limit, found by a sample; redaction is the caller's
};

// Did a real payload of one server load on the other? Empty error: yes.
struct PayloadProbe {
  std::string from;
  std::string to;
  std::string error;
};

struct PreflightInput {
  PoolKind kind = PoolKind::kStore;
  PoolFence fence = PoolFence::kAcl;
  std::string key_prefix;
  bool accept_weaker = false;
  uint64_t big_key_bytes = kBigKeyBytesDefault;
  std::vector<PreflightServer> servers;
  std::vector<PayloadProbe> probes;
  std::vector<std::string> unreachable;  // "node n4 (10.0.0.4:6379): connect ...: refused"
  std::vector<std::string> without_acl;  // the same, of servers that cannot be fenced as the pool wants it
};

std::vector<Finding> preflight(const PreflightInput& input);

// Whether PSYNC can be used as the feed without a fork and without misleading WAIT; the reason if not (DESIGN: a
// backlog is active, or diskless sync with a delay of at least 2 s; no minimum of replicas).
std::optional<Finding> check_psync_feed(const std::string& subject, const ServerFacts& facts);

}  // namespace slipring::rebalance
