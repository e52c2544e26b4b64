// SpookyHash version 2 of Bob Jenkins: 128 bits from two seeds; the 64- and 32-bit forms are parts of it.
// Thread-safety: pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace slipring {

std::array<uint64_t, 2> spooky2_128(std::string_view s, uint64_t seed1, uint64_t seed2);
inline uint64_t spooky2_64(std::string_view s, uint64_t seed) {
  return spooky2_128(s, seed, seed)[0];
}
inline uint32_t spooky2_32(std::string_view s, uint32_t seed) {
  return static_cast<uint32_t>(spooky2_128(s, seed, seed)[0]);
}

}  // namespace slipring
