// What a change costs where keys have replicas: bytes to move and between which zones, time at a cap, how much more is
// stored meanwhile, whether two replicas of a key share a zone, and the size of the metadata.
// Thread-safety: pure functions.
#pragma once

#include <vector>

#include "slipring/base/result.h"
#include "slipring/lab/analysis/report.h"
#include "slipring/placement/scheme.h"

namespace slipring::lab {

struct CapacityInput {
  std::vector<Member> before;
  std::vector<Member> after;
  uint64_t vnodes = 128;
  uint32_t replicas = 3;
  double bytes = 0;             // of all keys, once
  double bytes_per_second = 0;  // cap of the whole move
  double range_bytes = 120e9;   // of one range that is moved at that cap
  uint64_t seed = 0;
};

struct CapacityOutcome {
  uint64_t tokens_before = 0;
  uint64_t tokens_after = 0;
  double moved = 0;            // bytes that some node gets, as a share of all bytes of all replicas
  double across_zones = 0;     // of the moved ones: no old replica stands in the new one's zone
  double ideal = 0;            // least share: what the nodes that gain must get by weight
  uint64_t ranges = 0;         // between two tokens, after the change
  uint64_t zone_overlaps = 0;  // ranges with two replicas in a zone, although there are zones enough
  double largest_gain = 0;     // of one node, as a share of all bytes of all replicas
};

// Exact, over every range of the ring. kInvalidArgument: too many tokens, no replica, a name twice.
Result<CapacityOutcome> measure_capacity(const CapacityInput& input);
Result<Report> analyse_capacity(const CapacityInput& input);

}  // namespace slipring::lab
