#include "slipring/hash/cassandra_murmur3.h"

#include <bit>

#include "slipring/hash/load.h"
#include "slipring/hash/murmur.h"

namespace slipring {
namespace {

constexpr uint64_t kFactor1 = 0x87c37b91114253d5;
constexpr uint64_t kFactor2 = 0x4cf5ad432745937f;

uint64_t scramble1(uint64_t k) {
  return std::rotl(k * kFactor1, 31) * kFactor2;
}
uint64_t scramble2(uint64_t k) {
  return std::rotl(k * kFactor2, 33) * kFactor1;
}

// Up to 8 bytes as one word, each sign-extended before it is shifted into its place.
uint64_t signed_tail(std::string_view bytes) {
  uint64_t k = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    k ^= static_cast<uint64_t>(static_cast<int64_t>(static_cast<signed char>(bytes[i]))) << (8 * i);
  }
  return k;
}

}  // namespace

uint64_t cassandra_murmur3(std::string_view s) {
  const uint64_t length = s.size();
  uint64_t h1 = 0;
  uint64_t h2 = 0;
  for (; s.size() >= 16; s.remove_prefix(16)) {
    h1 = (std::rotl(h1 ^ scramble1(load_le64(s.data())), 27) + h2) * 5 + 0x52dce729;
    h2 = (std::rotl(h2 ^ scramble2(load_le64(s.data() + 8)), 31) + h1) * 5 + 0x38495ab5;
  }
  if (s.size() > 8) h2 ^= scramble2(signed_tail(s.substr(8)));
  h1 ^= scramble1(signed_tail(s.substr(0, 8)));
  h1 ^= length;
  h2 ^= length;
  h1 += h2;
  h2 += h1;
  return murmur3_mix64(h1) + murmur3_mix64(h2);
}

}  // namespace slipring
