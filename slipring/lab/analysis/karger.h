// The four properties by which consistent hashing was defined (Karger et al., STOC 1997), measured: balance,
// monotonicity, and, for clients that each know only a part of the nodes, spread and load.
// Thread-safety: pure functions.
#pragma once

#include "slipring/base/result.h"
#include "slipring/lab/analysis/keys.h"
#include "slipring/lab/analysis/report.h"
#include "slipring/placement/scheme.h"

namespace slipring::lab {

struct KargerInput {
  std::vector<SchemeSpec> specs;  // compared
  std::vector<Member> members;
  uint64_t views = 20;      // clients, each with a view of its own
  double view_share = 0.5;  // of the nodes that a view holds, above 0, at most 1
  uint64_t seed = 1;
};

// Expected number of different owners of a key in m views, each of which holds a node with probability f: the k-th node
// clockwise is a view's owner with probability f (1 - f)^(k - 1), and counts if it is the owner in at least one.
double theory_key_spread(uint64_t views, double view_share);

// kInvalidArgument: a placement cannot be made. Cost: keys x views look-ups for each scheme.
Result<Report> analyse_karger(const KargerInput& input, const KeySet& keys);

}  // namespace slipring::lab
