// Keys as text: what clients written in Java, JavaScript and Python hash is not the bytes on the wire but UTF-16 units
// or code points. Bytes that are no UTF-8 stand for themselves (unit 0x80 to 0xff), so every key has a hash.
//
// Invariant: valid UTF-8 decodes as Unicode says; nothing is ever refused. Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace slipring {

// One code point from the front of `text`, which loses its bytes. REQUIRES: not empty.
uint32_t take_code_point(std::string_view* text);

// Whether all of `text` is well-formed UTF-8.
bool is_utf8(std::string_view text);

// Calls unit(uint16_t) for every UTF-16 unit of `text`.
template <typename Unit>
void for_each_utf16_unit(std::string_view text, Unit unit) {
  while (!text.empty()) {
    const uint32_t c = take_code_point(&text);
    if (c >= 0x10000) {
      unit(static_cast<uint16_t>(0xd800 + ((c - 0x10000) >> 10)));
      unit(static_cast<uint16_t>(0xdc00 + ((c - 0x10000) & 0x3ff)));
    } else {
      unit(static_cast<uint16_t>(c));
    }
  }
}

// The low 8 bits of every code point: what a loop over ord(c) & 0xff sees.
std::string low_bytes(std::string_view text);

// Python's repr() of a bytes object: b'...' with its choice of quotes and its escapes.
std::string python_bytes_repr(std::string_view bytes);

// Over UTF-16 units, low 32 bits of the result.
uint32_t java_hash_code(std::string_view text);
uint32_t fnv1_32_utf16(std::string_view text);
uint32_t fnv1a_32_utf16(std::string_view text);
uint32_t fnv1_64_utf16(std::string_view text);
uint32_t fnv1a_64_utf16(std::string_view text);
// P. J. Weinberger's hash kept to 24 bits: 0 to 0xffffff. Source: npm consistent-hash 1.2.2.
uint32_t pjw24_utf16(std::string_view text);

}  // namespace slipring
