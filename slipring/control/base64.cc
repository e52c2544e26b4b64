#include "slipring/control/base64.h"

#include <cstdint>

namespace slipring::control {
namespace {

constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// The 24 bits of a group of four digits, or -1. Padding counts as zero bits.
int32_t group_bits(std::string_view group, size_t padding) {
  int32_t bits = 0;
  for (size_t i = 0; i < 4; ++i) {
    size_t digit = 0;
    if (i < 4 - padding) {
      digit = kDigits.find(group[i]);
      if (digit == std::string_view::npos) return -1;
    }
    bits = (bits << 6) | static_cast<int32_t>(digit);
  }
  return bits;
}

}  // namespace

std::string base64_encode(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t bits = 0;
    for (size_t j = 0; j < 3; ++j)
      bits = (bits << 8) | (i + j < bytes.size() ? static_cast<uint8_t>(bytes[i + j]) : 0u);
    for (size_t j = 0; j < 4; ++j) text.push_back(i + j > bytes.size() ? '=' : kDigits[(bits >> (18 - 6 * j)) & 63]);
  }
  return text;
}

Result<std::string> base64_decode(std::string_view text) {
  const auto bad = [] { return fail(Code::kInvalidArgument, "not base64"); };
  if (text.size() % 4 != 0) return bad();
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  for (size_t i = 0; i < text.size(); i += 4) {
    const std::string_view group = text.substr(i, 4);
    const bool last = i + 4 == text.size();
    const size_t padding = last ? (group.ends_with("==") ? 2 : group.ends_with("=") ? 1 : 0) : 0;
    const int32_t bits = group_bits(group, padding);
    if (bits < 0 || (bits & ((1 << (8 * static_cast<int>(padding))) - 1)) != 0) return bad();
    for (size_t j = 0; j < 3 - padding; ++j) bytes.push_back(static_cast<char>(bits >> (16 - 8 * static_cast<int>(j))));
  }
  return bytes;
}

}  // namespace slipring::control
