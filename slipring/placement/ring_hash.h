// What Envoy's and gRPC's ring_hash have in common: how the points of a ring are shared among weighted hosts. Host
// after host, points HASH("KEY_i") are added while their number is below scale * (sum of normalised weights so far),
// with scale = min(ceil(least * min_size) / least, max_size). All in doubles, as both do, so rounding is theirs.
// Thread-safety: pure functions.
#pragma once

#include <string_view>
#include <vector>

#include "slipring/placement/point_ring.h"

namespace slipring {

struct RingHashHost {
  std::string_view key;
  double weight = 1;
  NodeIndex member = 0;
};

struct RingSizes {
  uint64_t min = 1024;
  uint64_t max = 4096;
};

inline constexpr uint64_t kRingHashSizeMax = 8'388'608;  // both systems' hard bound

// The points in the order they are made, unsorted. Hosts of weight 0 get none. Cost: one hash a point, at most
// sizes.max + 1. REQUIRES: some weight > 0.
std::vector<RingPoint<uint64_t>> ring_hash_points(std::span<const RingHashHost> hosts, RingSizes sizes,
                                                  uint64_t (*hash)(std::string_view));

}  // namespace slipring
