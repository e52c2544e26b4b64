#include "slipring/hash/crc.h"

#include <array>

#include "slipring/hash/load.h"

namespace slipring {
namespace {

constexpr uint32_t crc32_of_byte(uint32_t c) {
  for (int bit = 0; bit < 8; ++bit) c = (c >> 1) ^ ((c & 1) != 0 ? 0xedb88320u : 0);
  return c;
}

// Table t takes a byte that has t more bytes behind it, so that four are folded at once.
constexpr auto kCrc32 = [] {
  std::array<std::array<uint32_t, 256>, 4> tables{};
  for (uint32_t i = 0; i < 256; ++i) tables[0][i] = crc32_of_byte(i);
  for (size_t t = 1; t < 4; ++t) {
    for (size_t i = 0; i < 256; ++i) tables[t][i] = (tables[t - 1][i] >> 8) ^ tables[0][tables[t - 1][i] & 0xff];
  }
  return tables;
}();

constexpr auto kCrc16 = [] {
  std::array<uint16_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t c = i << 8;
    for (int bit = 0; bit < 8; ++bit) c = (c << 1) ^ ((c & 0x8000) != 0 ? 0x1021 : 0);
    table[i] = static_cast<uint16_t>(c);
  }
  return table;
}();

}  // namespace

uint32_t crc32(std::string_view s, uint32_t previous) {
  uint32_t crc = ~previous;
  const char* p = s.data();
  size_t left = s.size();
  for (; left >= 4; p += 4, left -= 4) {
    const uint32_t x = crc ^ load_le32(p);
    crc = kCrc32[3][x & 0xff] ^ kCrc32[2][(x >> 8) & 0xff] ^ kCrc32[1][(x >> 16) & 0xff] ^ kCrc32[0][x >> 24];
  }
  for (; left > 0; ++p, --left) crc = (crc >> 8) ^ kCrc32[0][(crc ^ static_cast<uint8_t>(*p)) & 0xff];
  return ~crc;
}

uint16_t crc16_xmodem(std::string_view s) {
  uint16_t crc = 0;
  for (const char c : s) {
    crc = static_cast<uint16_t>((crc << 8) ^ kCrc16[((crc >> 8) ^ static_cast<uint8_t>(c)) & 0xff]);
  }
  return crc;
}

}  // namespace slipring
