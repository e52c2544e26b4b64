#include "slipring/protocol/rdb/crc64.h"

#include <array>
#include <cstring>

namespace slipring::rdb {
namespace {

constexpr uint64_t kReversedPolynomial = 0x95ac9329ac4bc9b5;
constexpr size_t kStride = 8;

// kTables[k][b]: what byte b does to the sum when k more bytes follow it in the same step.
using Tables = std::array<std::array<uint64_t, 256>, kStride>;
constexpr Tables kTables = [] {
  Tables t{};
  for (uint64_t b = 0; b < 256; ++b) {
    uint64_t crc = b;
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 1) != 0 ? (crc >> 1) ^ kReversedPolynomial : crc >> 1;
    t[0][b] = crc;
  }
  for (size_t k = 1; k < kStride; ++k) {
    for (size_t b = 0; b < 256; ++b) t[k][b] = (t[k - 1][b] >> 8) ^ t[0][t[k - 1][b] & 0xff];
  }
  return t;
}();

}  // namespace

uint64_t crc64(std::string_view bytes) {
  uint64_t crc = 0;
  const char* p = bytes.data();
  size_t left = bytes.size();
  for (; left >= kStride; left -= kStride, p += kStride) {
    uint64_t word = 0;
    std::memcpy(&word, p, kStride);  // little-endian, as every machine that Slipring runs on
    word ^= crc;
    crc = 0;
    for (size_t i = 0; i < kStride; ++i) crc ^= kTables[kStride - 1 - i][(word >> (8 * i)) & 0xff];
  }
  for (; left > 0; --left, ++p) crc = (crc >> 8) ^ kTables[0][(crc ^ static_cast<uint8_t>(*p)) & 0xff];
  return crc;
}

}  // namespace slipring::rdb
