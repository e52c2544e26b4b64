// The shape of most other systems' consistent hashing: 32-bit points, a 32-bit hash of the key, the first point at or
// after it owns. A system's file makes the points and names the hash.
//
// Invariant: as PointRing. Thread-safety: immutable.
#pragma once

#include <memory>
#include <string_view>
#include <utility>

#include "slipring/placement/point_scheme.h"
#include "slipring/placement/registry.h"

namespace slipring {

using KeyHash32 = uint32_t (*)(std::string_view key);
using Points32 = std::vector<RingPoint<uint32_t>>;

class HashedRing : public PointScheme<uint32_t> {
 public:
  HashedRing(size_t member_count, PointRing<uint32_t> ring, KeyHash32 hash)
      : PointScheme(member_count, std::move(ring)), hash_(hash) {}

 protected:
  uint32_t point_of(std::string_view key) const override { return hash_(tag(key)); }

 private:
  KeyHash32 hash_;
};

inline Result<std::unique_ptr<const Scheme>> make_hashed_ring(const SchemeInput& input, Points32 points, Ties ties,
                                                              KeyHash32 hash) {
  return std::make_unique<HashedRing>(input.members.size(), PointRing<uint32_t>(std::move(points), ties), hash);
}

}  // namespace slipring
