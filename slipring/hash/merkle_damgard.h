// How MD5, SHA-1 and SHA-256 cut a message into 64-byte blocks: whole ones as they are, then the rest with 0x80, zeros
// and the length in bits. Internal to this folder. Thread-safety: pure functions.
#pragma once

#include <cstring>
#include <string_view>

#include "slipring/hash/load.h"

namespace slipring::hash_internal {

inline constexpr size_t kBlockBytes = 64;

// Calls compress(block) for every block of the padded message. `store_length(p, bits)` writes 8 bytes.
template <typename Compress, typename StoreLength>
inline void for_each_block(std::string_view s, Compress compress, StoreLength store_length) {
  const char* p = s.data();
  size_t left = s.size();
  for (; left >= kBlockBytes; p += kBlockBytes, left -= kBlockBytes) compress(p);
  char last[2 * kBlockBytes] = {};
  if (left > 0) std::memcpy(last, p, left);
  last[left] = static_cast<char>(0x80);
  const size_t end = left + 9 <= kBlockBytes ? kBlockBytes : 2 * kBlockBytes;
  store_length(last + end - 8, static_cast<uint64_t>(s.size()) * 8);
  for (size_t at = 0; at < end; at += kBlockBytes) compress(last + at);
}

}  // namespace slipring::hash_internal
