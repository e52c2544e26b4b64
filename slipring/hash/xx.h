// xxHash: XXH3-64, XXH64 and XXH32, with seed, as xxhash 0.8 gives them. Inline: a look-up hashes one short key.
// Thread-safety: pure functions.
#pragma once

#ifndef XXH_INLINE_ALL
#define XXH_INLINE_ALL
#endif
#include <xxhash.h>

#include <cstdint>
#include <string_view>

namespace slipring {

inline uint64_t xxh3_64(std::string_view s, uint64_t seed = 0) {
  return XXH3_64bits_withSeed(s.data(), s.size(), seed);
}
inline uint64_t xxh64(std::string_view s, uint64_t seed = 0) {
  return XXH64(s.data(), s.size(), seed);
}
inline uint32_t xxh32(std::string_view s, uint32_t seed = 0) {
  return XXH32(s.data(), s.size(), seed);
}

}  // namespace slipring
