// What a change of layout would move, before it is done: expected shares, keys and bytes by source and target, load per
// node before and after, memory at the peak, how many slices it takes. Pure; the text for people is the CLI's.
//
// Invariant: the shares of all moves and of what stays add up to 1. Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "slipring/base/result.h"
#include "slipring/topology/snapshot.h"

namespace slipring::rebalance {

// What is known of a node's server.
struct NodeLoad {
  std::string node;
  uint64_t keys = 0;
  uint64_t bytes = 0;      // memory used
  uint64_t bytes_max = 0;  // 0 = no limit
};

struct PlannedMove {
  std::string source;  // node names
  std::string target;
  Instance source_instance;
  Instance target_instance;
  double share = 0;      // of the pool's key space
  double of_source = 0;  // of the source's keys
  uint64_t keys = 0;     // estimated
  uint64_t bytes = 0;
};

struct NodeForecast {
  std::string node;
  double share_before = 0;
  double share_after = 0;
  uint64_t keys_before = 0;
  uint64_t keys_after = 0;
  uint64_t bytes_before = 0;
  uint64_t bytes_after = 0;
  uint64_t bytes_peak = 0;  // with all copies of the largest slice in place, before cleanup
  uint64_t bytes_max = 0;
};

struct Forecast {
  std::vector<PlannedMove> moves;  // by (source, target)
  std::vector<NodeForecast> nodes;
  double share = 0;              // of the key space that moves
  double theoretical_least = 0;  // what any placement with these weights would have to move
  uint64_t keys = 0;
  uint64_t bytes = 0;
  double seconds = 0;  // of streaming, at `keys_per_second`
  uint32_t slices = 1;
  uint32_t slices_in_memory = 1;  // whose rollback is instant at the same time
  uint32_t samples = 0;
};

struct ForecastOptions {
  uint32_t samples = 200'000;  // keys drawn; the standard error of a share s is sqrt(s (1 - s) / samples)
  double keys_per_second = 20'000;
  double memory_headroom = 1.3;  // a target needs this much for each byte that it gets
};

// kInvalidArgument: a layout cannot be made. kFailedPrecondition: no number of slices fits the memory; it names the
// node. Cost: building both schemes and `samples` look-ups in each.
Result<Forecast> forecast(const Layout& before, const Layout& after, const std::vector<NodeLoad>& loads,
                          const ForecastOptions& options = {});

// The moves of a plan with this many slices, sorted, owned by the source. They are complete, not sampled: every pair of
// instances between which the schemes could move a key. Under `ring` with unchanged parameters those are the pairs with
// a changed node in them; else all pairs. kResourceExhausted: more than kMovesPerPlanMax.
Result<std::vector<MoveOwner>> moves_of(const Layout& before, const Layout& after, uint32_t slices);

}  // namespace slipring::rebalance
