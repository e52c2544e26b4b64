// The part of a key that decides where it lies. Redis Cluster's rule: the bytes between the first '{' and the first '}'
// after it, if there is at least one; otherwise the whole key. So "{}x" and "a}b{" count whole, "{{a}}" counts as "{a".
// Nearly no key has a '{', so that question is answered inline: a call of memchr costs as much as the search of a ring.
// Thread-safety: pure functions.
#pragma once

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <cstdint>
#include <cstring>
#include <string_view>

namespace slipring {
namespace placement_internal {

#if defined(__SSE2__)
inline constexpr size_t kBraceBlock = 16;
// Not 0 if one of the block's bytes is '{'.
inline int braces_in(const char* block) {
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(block));
  return _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('{')));
}
#else
inline constexpr size_t kBraceBlock = 8;
inline uint64_t braces_in(const char* block) {
  uint64_t word;
  std::memcpy(&word, block, sizeof word);
  const uint64_t other = word ^ 0x7b7b7b7b7b7b7b7b;  // a byte that was '{' is 0 now
  return (other - 0x0101010101010101) & ~other & 0x8080808080808080;
}
#endif

// Whether a key of kBraceBlock to 64 bytes has a '{'; blocks may overlap.
inline bool has_brace(std::string_view key) {
  const char* last = key.data() + key.size() - kBraceBlock;
  auto found = braces_in(last);
  for (const char* p = key.data(); p < last; p += kBraceBlock) found |= braces_in(p);
  return found != 0;
}

}  // namespace placement_internal

inline std::string_view redis_hash_tag(std::string_view key) {
  if (key.size() >= placement_internal::kBraceBlock && key.size() <= 64 && !placement_internal::has_brace(key))
      [[likely]]
    return key;
  const size_t open = key.find('{');
  if (open == std::string_view::npos) return key;
  const size_t close = key.find('}', open + 1);
  if (close == std::string_view::npos || close == open + 1) return key;
  return key.substr(open + 1, close - open - 1);
}

}  // namespace slipring
