// Rings of fixed seeds: what the theory of consistent hashing says of the average ring, measured over many of them. All
// are the native ring (placement/ring.h) over nodes n1, n2, ... of equal weight.
// Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "slipring/placement/scheme.h"

namespace slipring::lab {

inline constexpr uint64_t kTheoryRings = 2'000;

// n1 to nN.
std::vector<Member> numbered_members(uint64_t count);

// Standard deviation of the nodes' shares relative to the fair one: sqrt((n - 1) / (n V + 1)). Shares of V of n V
// random points are beta distributed; 512 vnodes on 100 nodes: 4.4 %.
double theory_stdev(uint64_t nodes, uint64_t vnodes);

// Shares of the nodes on the ring of this seed, in order of their numbers. Cost: O(n V log(n V)).
std::vector<double> ring_shares(uint64_t nodes, uint64_t vnodes, uint64_t seed);

// The root mean square, over nodes and over `rings` rings (seeds 0, 1, ...), of share / fair - 1.
double measured_stdev(uint64_t nodes, uint64_t vnodes, uint64_t rings);

// For each of `rings` rings, the share that moves when one more node joins `nodes` of them: the new node's share.
std::vector<double> joining_shares(uint64_t nodes, uint64_t vnodes, uint64_t rings);

}  // namespace slipring::lab
