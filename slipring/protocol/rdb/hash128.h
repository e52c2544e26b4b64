// XXH3-128 as digests use it: a value of 128 bits that can be added up, so that parts without an order have one sum.
// Thread-safety: values and pure functions.
#pragma once

#include <cstdint>
#include <string_view>

#include "slipring/hash/xx.h"

namespace slipring::rdb {

struct Hash128 {
  uint64_t low = 0;
  uint64_t high = 0;

  auto operator<=>(const Hash128&) const = default;
  // Modulo 2^128.
  Hash128& operator+=(const Hash128& other) {
    low += other.low;
    high += other.high + (low < other.low ? 1 : 0);
    return *this;
  }
  Hash128& operator-=(const Hash128& other) {
    high -= other.high + (low < other.low ? 1 : 0);
    low -= other.low;
    return *this;
  }
};

inline Hash128 hash128(const void* data, size_t size, uint64_t seed) {
  const XXH128_hash_t h = XXH3_128bits_withSeed(data, size, seed);
  return {h.low64, h.high64};
}
inline Hash128 hash128(std::string_view bytes, uint64_t seed) {
  return hash128(bytes.data(), bytes.size(), seed);
}

}  // namespace slipring::rdb
