// What a change of nodes, weights or scheme moves, beside the least that any placement must move and beside `hash mod
// n`. Thread-safety: pure functions.
#pragma once

#include <span>

#include "slipring/base/result.h"
#include "slipring/lab/analysis/keys.h"
#include "slipring/lab/analysis/report.h"
#include "slipring/placement/scheme.h"

namespace slipring::lab {

struct Side {
  SchemeSpec spec;
  std::vector<Member> members;
};

struct MovesInput {
  Side before;
  Side after;
  std::string change;  // "add n4"
  uint64_t rings = 0;  // over which theory is measured, between rings; 0: not
};

// kInvalidArgument: one of the placements cannot be made.
Result<Report> analyse_moves(const MovesInput& input, const KeySet& keys);

// Numbers that are hashes already, placed by their remainder: who changes its server and who its index when the nodes
// change from `before` to `after`. REQUIRES: neither is empty.
Report analyse_remainders(std::span<const uint64_t> hashes, std::span<const std::string> before,
                          std::span<const std::string> after);

// The share of keys that `hash mod n` moves between two counts of nodes, when the same nodes stay first in the list:
// 1 - min / lcm, exactly.
double modulo_moved_share(uint64_t before, uint64_t after);
// The same for any change of the list, by the nodes' names; exact while the remainders repeat within ten million
// hashes, else as if the same nodes stayed first.
double modulo_moved_share(std::span<const Member> before, std::span<const Member> after);

}  // namespace slipring::lab
