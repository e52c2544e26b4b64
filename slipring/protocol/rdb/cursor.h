// Bounded reading of RDB bytes: a read past the end makes the cursor bad, and every later read answers zero or empty,
// so a decoder may check once for a group of reads.
// Thread-safety: one owner.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace slipring::rdb {

class Cursor {
 public:
  explicit Cursor(std::string_view in) : in_(in) {}

  std::string_view bytes(uint64_t n) {
    if (bad_ || n > in_.size()) {
      bad_ = true;
      return {};
    }
    const std::string_view s = in_.substr(0, static_cast<size_t>(n));
    in_.remove_prefix(static_cast<size_t>(n));
    return s;
  }
  uint8_t u8() {
    const std::string_view s = bytes(1);
    return s.empty() ? 0 : static_cast<uint8_t>(s[0]);
  }
  // An unsigned integer of n <= 8 bytes, least or most significant byte first.
  uint64_t little(int n) {
    uint64_t v = 0;
    const std::string_view s = bytes(static_cast<uint64_t>(n));
    for (size_t i = s.size(); i-- > 0;) v = v << 8 | static_cast<uint8_t>(s[i]);
    return v;
  }
  uint64_t big(int n) {
    uint64_t v = 0;
    for (const char c : bytes(static_cast<uint64_t>(n))) v = v << 8 | static_cast<uint8_t>(c);
    return v;
  }
  // A signed integer of n bytes, least significant first.
  int64_t little_signed(int n) {
    const int shift = 64 - 8 * n;
    return static_cast<int64_t>(little(n) << shift) >> shift;
  }

  size_t left() const { return in_.size(); }
  bool bad() const { return bad_; }
  bool fail() {
    bad_ = true;
    return false;
  }
  // Everything was read and nothing was missing.
  bool done() const { return !bad_ && in_.empty(); }

 private:
  std::string_view in_;
  bool bad_ = false;
};

}  // namespace slipring::rdb
