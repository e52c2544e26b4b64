#include "slipring/hash/sha.h"

#include "slipring/hash/merkle_damgard.h"

namespace slipring {
namespace {

uint32_t sha1_mix(size_t i, uint32_t b, uint32_t c, uint32_t d) {
  if (i < 20) return (d ^ (b & (c ^ d))) + 0x5a827999;
  if (i < 40) return (b ^ c ^ d) + 0x6ed9eba1;
  if (i < 60) return ((b & c) | (d & (b | c))) + 0x8f1bbcdc;
  return (b ^ c ^ d) + 0xca62c1d6;
}

void sha1_compress(std::array<uint32_t, 5>& state, const char* block) {
  uint32_t w[80];
  for (size_t i = 0; i < 16; ++i) w[i] = load_be32(block + 4 * i);
  for (size_t i = 16; i < 80; ++i) w[i] = std::rotl(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
  auto [a, b, c, d, e] = state;
  for (size_t i = 0; i < 80; ++i) {
    const uint32_t next = std::rotl(a, 5) + sha1_mix(i, b, c, d) + e + w[i];
    e = d;
    d = c;
    c = std::rotl(b, 30);
    b = a;
    a = next;
  }
  state = {state[0] + a, state[1] + b, state[2] + c, state[3] + d, state[4] + e};
}

// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
constexpr uint32_t kCubeRoots[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

void sha256_compress(std::array<uint32_t, 8>& state, const char* block) {
  uint32_t w[64];
  for (size_t i = 0; i < 16; ++i) w[i] = load_be32(block + 4 * i);
  for (size_t i = 16; i < 64; ++i) {
    const uint32_t s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
    const uint32_t s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (size_t i = 0; i < 64; ++i) {
    const uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const uint32_t t1 = h + s1 + (g ^ (e & (f ^ g))) + kCubeRoots[i] + w[i];
    const uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const uint32_t t2 = s0 + ((a & b) | (c & (a | b)));
    h = g;
    g = f;
    f = e;
    e = d + t1;
    d = c;
    c = b;
    b = a;
    a = t1 + t2;
  }
  state = {state[0] + a, state[1] + b, state[2] + c, state[3] + d,
           state[4] + e, state[5] + f, state[6] + g, state[7] + h};
}

template <size_t kWords>
std::array<uint8_t, kWords * 4> big_endian_bytes(const std::array<uint32_t, kWords>& words) {
  std::array<uint8_t, kWords * 4> bytes;
  for (size_t i = 0; i < kWords; ++i) store_be32(bytes.data() + 4 * i, words[i]);
  return bytes;
}

}  // namespace

Sha1Digest sha1(std::string_view s) {
  std::array<uint32_t, 5> state = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
  hash_internal::for_each_block(
      s, [&](const char* block) { sha1_compress(state, block); }, [](char* p, uint64_t bits) { store_be64(p, bits); });
  return big_endian_bytes(state);
}

Sha256Digest sha256(std::string_view s) {
  std::array<uint32_t, 8> state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                   0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  hash_internal::for_each_block(
      s, [&](const char* block) { sha256_compress(state, block); },
      [](char* p, uint64_t bits) { store_be64(p, bits); });
  return big_endian_bytes(state);
}

}  // namespace slipring
