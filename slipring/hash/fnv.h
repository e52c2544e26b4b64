// FNV-1 and FNV-1a of Fowler, Noll and Vo, 32 and 64 bits, over unsigned bytes.
// Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <string_view>

namespace slipring {

inline constexpr uint32_t kFnvBasis32 = 0x811c9dc5;
inline constexpr uint32_t kFnvPrime32 = 0x01000193;
inline constexpr uint64_t kFnvBasis64 = 0xcbf29ce484222325;
inline constexpr uint64_t kFnvPrime64 = 0x100000001b3;

constexpr uint32_t fnv1_32(std::string_view s) {
  uint32_t h = kFnvBasis32;
  for (const char c : s) h = (h * kFnvPrime32) ^ static_cast<uint8_t>(c);
  return h;
}
constexpr uint32_t fnv1a_32(std::string_view s) {
  uint32_t h = kFnvBasis32;
  for (const char c : s) h = (h ^ static_cast<uint8_t>(c)) * kFnvPrime32;
  return h;
}
constexpr uint64_t fnv1_64(std::string_view s) {
  uint64_t h = kFnvBasis64;
  for (const char c : s) h = (h * kFnvPrime64) ^ static_cast<uint8_t>(c);
  return h;
}
constexpr uint64_t fnv1a_64(std::string_view s) {
  uint64_t h = kFnvBasis64;
  for (const char c : s) h = (h ^ static_cast<uint8_t>(c)) * kFnvPrime64;
  return h;
}

}  // namespace slipring
