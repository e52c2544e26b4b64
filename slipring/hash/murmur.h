// MurmurHash of Austin Appleby: version 2 (32 bits), 64A, and version 3 (x86 32 bits, x64 128 bits), with seed.
// Thread-safety: pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace slipring {

uint32_t murmur2_32(std::string_view s, uint32_t seed);
uint64_t murmur2_64a(std::string_view s, uint64_t seed);
uint32_t murmur3_32(std::string_view s, uint32_t seed);
// The two 64-bit halves, first half first.
std::array<uint64_t, 2> murmur3_x64_128(std::string_view s, uint32_t seed);

// The finalisers of version 3: one-to-one mixes of a word.
constexpr uint32_t murmur3_mix32(uint32_t h) {
  h = (h ^ (h >> 16)) * 0x85ebca6b;
  h = (h ^ (h >> 13)) * 0xc2b2ae35;
  return h ^ (h >> 16);
}
constexpr uint64_t murmur3_mix64(uint64_t h) {
  h = (h ^ (h >> 33)) * 0xff51afd7ed558ccd;
  h = (h ^ (h >> 33)) * 0xc4ceb9fe1a85ec53;
  return h ^ (h >> 33);
}

}  // namespace slipring
