// envoy-ring-hash: Envoy's ring_hash load balancer, ring for ring.
//
// Points are the hashes (XXH64, or MurmurHash64A seeded 0xc70f6907 for MURMUR_HASH_2) of KEY_i, KEY the host's hash key
// (label: "10.0.0.1:6379", hostname or metadata hash_key), as many as weighted_ring.h says, hosts in list order. Key:
// XXH64, or as redis_proxy hashes (envoy_key.h); owner = first point >= it, wrapping. Equal points: Envoy leaves the order open, here the earlier host owns.
// The preference list goes on clockwise, as Envoy's retries do.
// Guarantee: shares in proportion to points. Cost: O(1) search, 10 bytes a point. Disruption: the node's own share, as
// long as the number of points of the others stays (it changes with the least weight and when max_ring_size bites).
// Source: envoy ring_hash_lb.cc; the rings printed in its unit tests are reproduced.
#pragma once

#include "slipring/placement/point_ring.h"
#include "slipring/placement/registry.h"

namespace slipring {

const SchemeDefinition& envoy_ring_hash_scheme();

}  // namespace slipring
