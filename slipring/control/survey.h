// Looks at what a server really holds, before a plan: keys and bytes by move, keys above the limit, keys that lie where
// they do not belong. Reads with SCAN and MEMORY USAGE in pages; above its time limit it stops and extrapolates.
//
// Thread-safety: pure over the caller's connection.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "slipring/base/clock.h"
#include "slipring/base/result.h"
#include "slipring/store/redis/client.h"
#include "slipring/topology/routing.h"

namespace slipring::control {

struct SurveyOptions {
  uint64_t big_key_bytes = 8ull << 20;
  size_t big_keys_max = 10;  // named; the rest is counted
  Millis time_max{15'000};
};

struct MoveCount {
  uint64_t keys = 0;
  uint64_t bytes = 0;
};

struct Survey {
  uint64_t keys = 0;  // of the pool, on this server
  uint64_t bytes = 0;
  uint64_t misplaced = 0;  // keys that another instance owns
  uint64_t key_bytes_max = 0;
  uint64_t big_keys = 0;
  std::vector<std::string> big_key_names;
  std::vector<MoveCount> moves;  // by move of the plan
  bool complete = true;          // false: scaled up from a part
};

// Counts what the server at `address` holds of the pool that `routing` was compiled from.
Result<Survey> survey(redis::Client& client, const PoolRouting& routing, const std::string& address,
                      const SurveyOptions& options, const Clock& clock);

// How many of up to `sample` keys lie on the instance that owns them.
struct PlacementCheck {
  uint64_t sampled = 0;
  uint64_t at_home = 0;
  std::string example;  // a key that is not, and where it should be
};
Result<PlacementCheck> check_placement(redis::Client& client, const PoolRouting& routing, const std::string& address,
                                       uint64_t sample);

// Whether a payload of `from` can be loaded by `to` and back, tried with a key of ten seconds' life that is removed at
// once. Empty: yes; otherwise the server's words.
std::string probe_payload(redis::Client& from, redis::Client& to, const std::string& key_prefix);

}  // namespace slipring::control
