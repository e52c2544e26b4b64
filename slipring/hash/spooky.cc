#include "slipring/hash/spooky.h"

#include "slipring/hash/load.h"

namespace slipring {
namespace {

constexpr uint64_t kConst = 0xdeadbeefdeadbeef;
constexpr size_t kVariables = 12;
constexpr size_t kBlockBytes = kVariables * 8;
constexpr size_t kShortBytes = 2 * kBlockBytes;

using Short = std::array<uint64_t, 4>;
using Long = std::array<uint64_t, kVariables>;

void short_mix(Short& h) {
  constexpr int kTurn[12] = {50, 52, 30, 41, 54, 48, 38, 37, 62, 34, 5, 36};
  for (size_t i = 0; i < 12; ++i) {
    const size_t x = (i + 2) % 4;
    h[x] = std::rotl(h[x], kTurn[i]) + h[(x + 1) % 4];
    h[(x + 2) % 4] ^= h[x];
  }
}

void short_end(Short& h) {
  constexpr int kTurn[11] = {15, 52, 26, 51, 28, 9, 47, 54, 32, 25, 63};
  for (size_t i = 0; i < 11; ++i) {
    const size_t x = (i + 3) % 4;
    const size_t before = (x + 3) % 4;
    h[x] ^= h[before];
    h[before] = std::rotl(h[before], kTurn[i]);
    h[x] += h[before];
  }
}

// The last bytes, fewer than 16, go into c and d; an empty rest adds a constant.
void short_tail(Short& h, const char* p, size_t left) {
  if (left == 0) {
    h[2] += kConst;
    h[3] += kConst;
    return;
  }
  char last[16] = {};
  std::memcpy(last, p, left);
  h[2] += load_le64(last);
  h[3] += load_le64(last + 8);
}

std::array<uint64_t, 2> short_hash(std::string_view s, uint64_t seed1, uint64_t seed2) {
  Short h = {seed1, seed2, kConst, kConst};
  const char* p = s.data();
  size_t left = s.size();
  for (; left >= 32; p += 32, left -= 32) {
    h[2] += load_le64(p);
    h[3] += load_le64(p + 8);
    short_mix(h);
    h[0] += load_le64(p + 16);
    h[1] += load_le64(p + 24);
  }
  if (left >= 16) {
    h[2] += load_le64(p);
    h[3] += load_le64(p + 8);
    short_mix(h);
    p += 16;
    left -= 16;
  }
  h[3] += static_cast<uint64_t>(s.size()) << 56;
  short_tail(h, p, left);
  short_end(h);
  return {h[0], h[1]};
}

void long_mix(Long& h, const char* block) {
  constexpr int kTurn[kVariables] = {11, 32, 43, 31, 17, 28, 39, 57, 55, 54, 22, 46};
  for (size_t i = 0; i < kVariables; ++i) {
    h[i] += load_le64(block + 8 * i);
    h[(i + 2) % kVariables] ^= h[(i + 10) % kVariables];
    h[(i + 11) % kVariables] ^= h[i];
    h[i] = std::rotl(h[i], kTurn[i]);
    h[(i + 11) % kVariables] += h[(i + 1) % kVariables];
  }
}

void long_end_part(Long& h) {
  constexpr int kTurn[kVariables] = {44, 15, 34, 21, 38, 33, 10, 13, 38, 53, 42, 54};
  for (size_t i = 0; i < kVariables; ++i) {
    h[(i + 11) % kVariables] += h[(i + 1) % kVariables];
    h[(i + 2) % kVariables] ^= h[(i + 11) % kVariables];
    h[(i + 1) % kVariables] = std::rotl(h[(i + 1) % kVariables], kTurn[i]);
  }
}

std::array<uint64_t, 2> long_hash(std::string_view s, uint64_t seed1, uint64_t seed2) {
  Long h;
  for (size_t i = 0; i < kVariables; i += 3) {
    h[i] = seed1;
    h[i + 1] = seed2;
    h[i + 2] = kConst;
  }
  const char* p = s.data();
  size_t left = s.size();
  for (; left >= kBlockBytes; p += kBlockBytes, left -= kBlockBytes) long_mix(h, p);
  char last[kBlockBytes] = {};
  std::memcpy(last, p, left);
  last[kBlockBytes - 1] = static_cast<char>(left);
  for (size_t i = 0; i < kVariables; ++i) h[i] += load_le64(last + 8 * i);
  for (int i = 0; i < 3; ++i) long_end_part(h);
  return {h[0], h[1]};
}

}  // namespace

std::array<uint64_t, 2> spooky2_128(std::string_view s, uint64_t seed1, uint64_t seed2) {
  return s.size() < kShortBytes ? short_hash(s, seed1, seed2) : long_hash(s, seed1, seed2);
}

}  // namespace slipring
