#include "slipring/hash/md5.h"

#include <utility>

#include "slipring/hash/merkle_damgard.h"

namespace slipring {
namespace {

// floor(2^32 * abs(sin(i + 1))).
constexpr uint32_t kSine[64] = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391};
constexpr int kTurn[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};

using State = std::array<uint32_t, 4>;

template <size_t kRound>
[[gnu::always_inline]] inline uint32_t mix(uint32_t b, uint32_t c, uint32_t d) {
  if constexpr (kRound == 0) return d ^ (b & (c ^ d));
  // The two halves of (d & b) | (~d & c) never share a bit; added apart, the one without b is ready early.
  if constexpr (kRound == 1) return (d & b) + (~d & c);
  if constexpr (kRound == 2) return b ^ c ^ d;
  return c ^ (b | ~d);
}

template <size_t kRound>
constexpr size_t word_of(size_t i) {
  if (kRound == 0) return i;
  if (kRound == 1) return (1 + 5 * i) % 16;
  if (kRound == 2) return (5 + 3 * i) % 16;
  return (7 * i) % 16;
}

// Step i writes the word that plays `a` in it: a, d, c, b in turn.
template <size_t kRound, size_t kI>
[[gnu::always_inline]] inline void step(State& s, const uint32_t* m) {
  constexpr size_t kA = (4 - kI % 4) % 4;
  const uint32_t b = s[(kA + 1) % 4];
  const uint32_t c = s[(kA + 2) % 4];
  const uint32_t d = s[(kA + 3) % 4];
  const uint32_t sum = s[kA] + m[word_of<kRound>(kI)] + kSine[kRound * 16 + kI] + mix<kRound>(b, c, d);
  s[kA] = b + std::rotl(sum, kTurn[kRound][kI % 4]);
}

template <size_t kRound, size_t... kI>
[[gnu::always_inline]] inline void round(State& s, const uint32_t* m, std::index_sequence<kI...>) {
  (step<kRound, kI>(s, m), ...);
}

[[gnu::always_inline]] inline void compress(State& state, const char* block) {
  uint32_t m[16];
  std::memcpy(m, block, sizeof m);
  State s = state;
  round<0>(s, m, std::make_index_sequence<16>());
  round<1>(s, m, std::make_index_sequence<16>());
  round<2>(s, m, std::make_index_sequence<16>());
  round<3>(s, m, std::make_index_sequence<16>());
  for (size_t i = 0; i < 4; ++i) state[i] += s[i];
}

}  // namespace

std::array<uint32_t, 4> md5_words(std::string_view s) {
  State state = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
  hash_internal::for_each_block(
      s, [&](const char* block) { compress(state, block); }, [](char* p, uint64_t bits) { store_le64(p, bits); });
  return state;
}

Md5Digest md5(std::string_view s) {
  return std::bit_cast<Md5Digest>(md5_words(s));
}

}  // namespace slipring
