#include "slipring/hash/utf.h"

#include <fmt/format.h>

#include "slipring/hash/fnv.h"

namespace slipring {
namespace {

struct Decoded {
  uint32_t code_point;
  size_t bytes;  // 0: not well-formed
};

uint32_t byte_at(std::string_view s, size_t i) {
  return static_cast<uint8_t>(s[i]);
}

// The well-formed sequence at the front of `s` (RFC 3629: no overlong form, no surrogate, at most U+10FFFF).
Decoded decode(std::string_view s) {
  const uint32_t lead = byte_at(s, 0);
  if (lead < 0x80) return {lead, 1};
  const size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || s.size() < bytes) return {lead, 0};
  uint32_t c = lead & (0x7fu >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte_at(s, i) & 0xc0) != 0x80) return {lead, 0};
    c = (c << 6) | (byte_at(s, i) & 0x3f);
  }
  constexpr uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = c >= 0xd800 && c <= 0xdfff;
  if (c < kSmallest[bytes] || c > 0x10ffff || surrogate) return {lead, 0};
  return {c, bytes};
}

template <typename Step>
uint32_t fold_units(std::string_view text, uint32_t h, Step step) {
  for_each_utf16_unit(text, [&](uint16_t unit) { h = step(h, unit); });
  return h;
}

uint32_t fnv1_utf16(std::string_view text, uint32_t init, uint32_t prime) {
  return fold_units(text, init, [prime](uint32_t h, uint16_t unit) { return (h * prime) ^ unit; });
}

uint32_t fnv1a_utf16(std::string_view text, uint32_t init, uint32_t prime) {
  return fold_units(text, init, [prime](uint32_t h, uint16_t unit) { return (h ^ unit) * prime; });
}

}  // namespace

uint32_t take_code_point(std::string_view* text) {
  const Decoded d = decode(*text);
  text->remove_prefix(d.bytes == 0 ? 1 : d.bytes);
  return d.code_point;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const size_t bytes = decode(text).bytes;
    if (bytes == 0) return false;
    text.remove_prefix(bytes);
  }
  return true;
}

std::string low_bytes(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) out.push_back(static_cast<char>(take_code_point(&text)));
  return out;
}

std::string python_bytes_repr(std::string_view bytes) {
  const bool double_quotes = bytes.find('\'') != bytes.npos && bytes.find('"') == bytes.npos;
  const char quote = double_quotes ? '"' : '\'';
  std::string out = {'b', quote};
  for (const char c : bytes) {
    if (c == quote || c == '\\') {
      out += {'\\', c};
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c < ' ' || c > '~') {
      out += fmt::format("\\x{:02x}", static_cast<uint8_t>(c));
    } else {
      out += c;
    }
  }
  out += quote;
  return out;
}

uint32_t java_hash_code(std::string_view text) {
  return fold_units(text, 0, [](uint32_t h, uint16_t unit) { return h * 31 + unit; });
}

uint32_t fnv1_32_utf16(std::string_view text) {
  return fnv1_utf16(text, kFnvBasis32, kFnvPrime32);
}
uint32_t fnv1a_32_utf16(std::string_view text) {
  return fnv1a_utf16(text, kFnvBasis32, kFnvPrime32);
}
// Only the low halves of the 64-bit constants reach the low 32 bits of the result.
uint32_t fnv1_64_utf16(std::string_view text) {
  return fnv1_utf16(text, static_cast<uint32_t>(kFnvBasis64), static_cast<uint32_t>(kFnvPrime64));
}
uint32_t fnv1a_64_utf16(std::string_view text) {
  return fnv1a_utf16(text, static_cast<uint32_t>(kFnvBasis64), static_cast<uint32_t>(kFnvPrime64));
}

uint32_t pjw24_utf16(std::string_view text) {
  return fold_units(text, 0, [](uint32_t h, uint16_t unit) {
    const uint32_t sum = (h << 4) + unit;
    return (sum & 0x00ffffff) ^ (sum >> 24);
  });
}

}  // namespace slipring
