#include "slipring/hash/murmur.h"

#include "slipring/hash/load.h"

namespace slipring {
namespace {

// The last bytes, fewer than 8, as a little-endian word.
uint64_t tail_word(const char* p, size_t n) {
  uint64_t word = 0;
  for (size_t i = n; i-- > 0;) word = (word << 8) | static_cast<uint8_t>(p[i]);
  return word;
}

constexpr uint64_t kC1 = 0x87c37b91114253d5;
constexpr uint64_t kC2 = 0x4cf5ad432745937f;

uint64_t scramble1(uint64_t k) {
  return std::rotl(k * kC1, 31) * kC2;
}
uint64_t scramble2(uint64_t k) {
  return std::rotl(k * kC2, 33) * kC1;
}
uint32_t scramble32(uint32_t k) {
  return std::rotl(k * 0xcc9e2d51, 15) * 0x1b873593;
}

}  // namespace

uint32_t murmur2_32(std::string_view s, uint32_t seed) {
  constexpr uint32_t kM = 0x5bd1e995;
  uint32_t h = seed ^ static_cast<uint32_t>(s.size());
  const char* p = s.data();
  size_t left = s.size();
  for (; left >= 4; p += 4, left -= 4) {
    uint32_t k = load_le32(p) * kM;
    k = (k ^ (k >> 24)) * kM;
    h = (h * kM) ^ k;
  }
  if (left > 0) h = (h ^ static_cast<uint32_t>(tail_word(p, left))) * kM;
  h = (h ^ (h >> 13)) * kM;
  return h ^ (h >> 15);
}

uint64_t murmur2_64a(std::string_view s, uint64_t seed) {
  constexpr uint64_t kM = 0xc6a4a7935bd1e995;
  uint64_t h = seed ^ (s.size() * kM);
  const char* p = s.data();
  size_t left = s.size();
  for (; left >= 8; p += 8, left -= 8) {
    uint64_t k = load_le64(p) * kM;
    k = (k ^ (k >> 47)) * kM;
    h = (h ^ k) * kM;
  }
  if (left > 0) h = (h ^ tail_word(p, left)) * kM;
  h = (h ^ (h >> 47)) * kM;
  return h ^ (h >> 47);
}

uint32_t murmur3_32(std::string_view s, uint32_t seed) {
  uint32_t h = seed;
  const char* p = s.data();
  size_t left = s.size();
  for (; left >= 4; p += 4, left -= 4) h = std::rotl(h ^ scramble32(load_le32(p)), 13) * 5 + 0xe6546b64;
  if (left > 0) h ^= scramble32(static_cast<uint32_t>(tail_word(p, left)));
  return murmur3_mix32(h ^ static_cast<uint32_t>(s.size()));
}

std::array<uint64_t, 2> murmur3_x64_128(std::string_view s, uint32_t seed) {
  uint64_t h1 = seed;
  uint64_t h2 = seed;
  const char* p = s.data();
  size_t left = s.size();
  for (; left >= 16; p += 16, left -= 16) {
    h1 = (std::rotl(h1 ^ scramble1(load_le64(p)), 27) + h2) * 5 + 0x52dce729;
    h2 = (std::rotl(h2 ^ scramble2(load_le64(p + 8)), 31) + h1) * 5 + 0x38495ab5;
  }
  if (left > 8) h2 ^= scramble2(tail_word(p + 8, left - 8));
  if (left > 0) h1 ^= scramble1(left >= 8 ? load_le64(p) : tail_word(p, left));
  h1 ^= s.size();
  h2 ^= s.size();
  h1 += h2;
  h2 += h1;
  h1 = murmur3_mix64(h1);
  h2 = murmur3_mix64(h2);
  h1 += h2;
  h2 += h1;
  return {h1, h2};
}

}  // namespace slipring
