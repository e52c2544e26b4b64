// What changes between two placements: who gives which share of the keys to whom, beside the least that any placement
// would have to move. Exact where both schemes cut the same key space into ranges (rings, slots, tables); otherwise
// from a fixed sample of keys, with the error that a sample has.
//
// Invariant: nodes are matched by name; shares are of all keys, 0 to 1; the same input gives the same answer.
// Thread-safety: pure functions.
#pragma once

#include <span>
#include <vector>

#include "slipring/placement/scheme.h"

namespace slipring {

// Keys that go from one node to another.
struct MoveShare {
  NodeIndex source;  // in the old members
  NodeIndex target;  // in the new members
  double share;
  uint64_t ranges;  // how many ranges that is; keys, if the plan is sampled
};

struct MovePlan {
  bool exact = false;
  uint64_t sampled_keys = 0;     // 0 if exact
  double moved_share = 0;        // the sum of all moves
  double least_share = 0;        // what weights alone demand: the sum of what nodes gain
  std::vector<MoveShare> moves;  // by source, then target
};

// One side of a change.
struct Placement {
  const Scheme& scheme;
  std::span<const Member> members;
};

inline constexpr uint64_t kPlanSampleKeys = 1 << 18;

// Cost: linear in ranges; kPlanSampleKeys look-ups in each placement if sampled.
MovePlan plan_moves(const Placement& before, const Placement& after);

// Shares by member of one placement, by the same means: exact or sampled.
std::vector<double> plan_shares(const Scheme& scheme);

}  // namespace slipring
