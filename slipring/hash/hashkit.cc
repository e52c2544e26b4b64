#include "slipring/hash/hashkit.h"

#include <array>

#include "slipring/hash/crc.h"
#include "slipring/hash/fnv.h"
#include "slipring/hash/jenkins.h"
#include "slipring/hash/md5.h"
#include "slipring/hash/murmur.h"

namespace slipring {
namespace {

// The low 32 bits of the 64-bit FNV constants: the high half of the prime only ever reaches the high half of the sum.
constexpr uint32_t kFnvBasis64Low = static_cast<uint32_t>(kFnvBasis64);
constexpr uint32_t kFnvPrime64Low = static_cast<uint32_t>(kFnvPrime64);

uint32_t sign_extended(char c) {
  return static_cast<uint32_t>(static_cast<int32_t>(static_cast<signed char>(c)));
}

uint32_t fnv1_signed(std::string_view key, uint32_t init, uint32_t prime) {
  uint32_t h = init;
  for (const char c : key) h = (h * prime) ^ sign_extended(c);
  return h;
}

uint32_t fnv1a_signed(std::string_view key, uint32_t init, uint32_t prime) {
  uint32_t h = init;
  for (const char c : key) h = (h ^ sign_extended(c)) * prime;
  return h;
}

constexpr std::array<uint16_t, 256> make_crc16_table() {
  std::array<uint16_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t r = i << 8;
    for (int bit = 0; bit < 8; ++bit) r = (r & 0x8000) != 0 ? (r << 1) ^ 0x1021 : r << 1;
    table[i] = static_cast<uint16_t>(r);
  }
  return table;
}
constexpr std::array<uint16_t, 256> kCrc16Table = make_crc16_table();

}  // namespace

uint32_t fnv1_64_low_signed(std::string_view key) {
  return fnv1_signed(key, kFnvBasis64Low, kFnvPrime64Low);
}
uint32_t fnv1a_64_low_signed(std::string_view key) {
  return fnv1a_signed(key, kFnvBasis64Low, kFnvPrime64Low);
}
uint32_t fnv1_32_signed(std::string_view key) {
  return fnv1_signed(key, kFnvBasis32, kFnvPrime32);
}
uint32_t fnv1a_32_signed(std::string_view key) {
  return fnv1a_signed(key, kFnvBasis32, kFnvPrime32);
}

uint32_t one_at_a_time_signed(std::string_view key) {
  uint32_t h = 0;
  for (const char c : key) {
    h += sign_extended(c);
    h += h << 10;
    h ^= h >> 6;
  }
  h += h << 3;
  h ^= h >> 11;
  return h + (h << 15);
}

uint32_t crc16_unmasked(std::string_view key) {
  uint32_t crc = 0;
  for (const char c : key) crc = (crc << 8) ^ kCrc16Table[((crc >> 8) ^ static_cast<uint8_t>(c)) & 0xff];
  return crc;
}

uint32_t crc32_15_bits(std::string_view key) {
  return (crc32(key) >> 16) & 0x7fff;
}

uint32_t md5_first_word(std::string_view key) {
  return md5_words(key)[0];
}

uint32_t murmur2_length_seed(std::string_view key) {
  return murmur2_32(key, 0xdeadbeefu * static_cast<uint32_t>(key.size()));
}

uint32_t murmur3_length_seed(std::string_view key) {
  return murmur3_32(key, 0xdeadbeefu * static_cast<uint32_t>(key.size()));
}

uint32_t jenkins_lookup3_13(std::string_view key) {
  return jenkins_lookup3(key, 13);
}

}  // namespace slipring
