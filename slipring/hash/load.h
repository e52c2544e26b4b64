// Words from bytes in a stated order, on any machine and any alignment.
// Thread-safety: pure functions.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace slipring {

static_assert(std::endian::native == std::endian::little, "the loads below are written for little-endian machines");

inline uint16_t load_le16(const void* p) {
  uint16_t v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
inline uint32_t load_le32(const void* p) {
  uint32_t v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
inline uint64_t load_le64(const void* p) {
  uint64_t v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
inline uint32_t load_be32(const void* p) {
  return __builtin_bswap32(load_le32(p));
}
inline uint64_t load_be64(const void* p) {
  return __builtin_bswap64(load_le64(p));
}
inline void store_le32(void* p, uint32_t v) {
  std::memcpy(p, &v, sizeof v);
}
inline void store_le64(void* p, uint64_t v) {
  std::memcpy(p, &v, sizeof v);
}
inline void store_be32(void* p, uint32_t v) {
  store_le32(p, __builtin_bswap32(v));
}
inline void store_be64(void* p, uint64_t v) {
  store_le64(p, __builtin_bswap64(v));
}

}  // namespace slipring
