// Rings of fixed seeds: what the theory of consistent hashing says of the average ring, measured over many of them. All
// are the native ring (placement/ring.h) over nodes n1, n2, ... of equal weight.
// Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "slipring/lab/analysis/circle.h"
#include "slipring/placement/scheme.h"

namespace slipring::lab {

inline constexpr uint64_t kTheoryRings = 2'000;

// n1 to nN.
std::vector<Member> numbered_members(uint64_t count);

// Standard deviation of the nodes' shares relative to the fair one: sqrt((n - 1) / (n V + 1)). Shares of V of n V
// random points are beta distributed; 512 vnodes on 100 nodes: 4.4 %.
double theory_stdev(uint64_t nodes, uint64_t vnodes);

// Shares of the nodes on the ring of this seed, in order of their numbers. Cost: O(n V).
std::vector<double> ring_shares(uint64_t nodes, uint64_t vnodes, uint64_t seed);

// The root mean square, over nodes and over `rings` rings (seeds 0, 1, ...), of share / fair - 1.
double measured_stdev(uint64_t nodes, uint64_t vnodes, uint64_t rings);

// For each of `rings` rings, the share that moves when one more node joins `nodes` of them: the new node's share.
std::vector<double> joining_shares(uint64_t nodes, uint64_t vnodes, uint64_t rings);

// A change of a ring: who has how many tokens before and after, node by node; 0: not there.
struct RingChange {
  VnodeCounts before;
  VnodeCounts after;

  bool operator==(const RingChange&) const = default;
};
// Nodes are matched by name. REQUIRES: vnodes of at most kTokensMax in all.
RingChange ring_change(std::span<const Member> before, uint64_t vnodes_before, std::span<const Member> after,
                       uint64_t vnodes_after);

// Expected share that moves: the first token behind a key is one that comes or goes, and the next owner another node.
double theory_moved(const RingChange& change);
// For each of `rings` rings, the share that moves. Nodes are n1, n2, ... in the order of the change.
std::vector<double> moved_shares(const RingChange& change, uint64_t rings);

// On how many of the others the load of one of n equal nodes falls when it is removed:
// (n - 1) (1 - prod ((n - 2) V + i) / ((n - 1) V + i)) for i = 0..V-1.
double theory_takers(uint64_t nodes, uint64_t vnodes);

// Over `rings` rings of equal nodes: measured_stdev(), and the mean of the nodes on which the first one's load falls.
struct RingMeans {
  double stdev = 0;
  double takers = 0;
};
RingMeans measure_rings(uint64_t nodes, uint64_t vnodes, uint64_t rings);

}  // namespace slipring::lab
