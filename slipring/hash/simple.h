// Short classic string hashes over unsigned bytes: djb2, sdbm, and wt6 of HAProxy.
// Thread-safety: pure functions.
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>

namespace slipring {

// h = 5381, then h * 33 + byte.
constexpr uint32_t djb2(std::string_view s) {
  uint32_t h = 5381;
  for (const char c : s) h = h * 33 + static_cast<uint8_t>(c);
  return h;
}

// h = 0, then h * 65599 + byte.
constexpr uint32_t sdbm(std::string_view s) {
  uint32_t h = 0;
  for (const char c : s) h = h * 65599 + static_cast<uint8_t>(c);
  return h;
}

// Two words that turn by amounts taken from themselves.
constexpr uint32_t wt6(std::string_view s) {
  uint32_t h0 = 0xa53c965a;
  uint32_t h1 = 0x5ca6953a;
  int turn0 = 6;
  int turn1 = 18;
  for (const char c : s) {
    const uint32_t byte = static_cast<uint8_t>(c);
    const uint32_t a = std::rotl(~(h1 + byte), turn0);
    h1 = std::rotl(~(h0 ^ byte), turn1);
    h0 = a;
    const uint32_t t = ((h0 >> 16) ^ h1) & 0xffff;
    turn0 = static_cast<int>(t & 0x1f);
    turn1 = static_cast<int>(t >> 11);
  }
  return h0 ^ h1;
}

}  // namespace slipring
