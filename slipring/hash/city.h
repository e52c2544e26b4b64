// CityHash's combination of two 64-bit words into one (Hash128to64 of CityHash 1.0). mcrouter's rendezvous functions
// score an endpoint with it.
// Thread-safety: pure function.
#pragma once

#include <cstdint>

namespace slipring {

constexpr uint64_t city_128_to_64(uint64_t low, uint64_t high) {
  constexpr uint64_t kMultiplier = 0x9ddfea08eb382d69ULL;
  uint64_t a = (low ^ high) * kMultiplier;
  a ^= a >> 47;
  uint64_t b = (high ^ a) * kMultiplier;
  b ^= b >> 47;
  return b * kMultiplier;
}

}  // namespace slipring
