// Cyclic redundancy checks as placement functions: CRC-32 (IEEE, as zlib) and CRC-16/XMODEM (as Redis Cluster).
// Systems that take parts of them or keep wider accumulators have their own variants beside.
// Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <string_view>

namespace slipring {

// Reflected polynomial 0xedb88320, start and final xor 0xffffffff. crc32("123456789") = 0xcbf43926.
// `previous` continues a CRC: crc32(b, crc32(a)) = crc32(a + b).
uint32_t crc32(std::string_view s, uint32_t previous = 0);
// The CRC of nothing else, where a function of the key alone is asked for.
inline uint32_t plain_crc32(std::string_view s) {
  return crc32(s);
}

// Polynomial 0x1021, start 0, not reflected. crc16_xmodem("123456789") = 0x31c3.
uint16_t crc16_xmodem(std::string_view s);

}  // namespace slipring
