// Little-endian, length-prefixed byte encoding for our own formats (snapshot, channel, records). A reader never reads
// past its end: the first failed read makes it `bad` and every later one answers zero or empty, so a decoder checks once.
// Thread-safety: one owner.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace slipring {

class ByteWriter {
 public:
  void u8(uint8_t v) { out_.push_back(static_cast<char>(v)); }
  void u16(uint16_t v) { little(v, 2); }
  void u32(uint32_t v) { little(v, 4); }
  void u64(uint64_t v) { little(v, 8); }
  void i64(int64_t v) { u64(static_cast<uint64_t>(v)); }
  // u32 length, then the bytes.
  void str(std::string_view s) {
    u32(static_cast<uint32_t>(s.size()));
    out_.append(s);
  }
  void raw(std::string_view s) { out_.append(s); }
  const std::string& bytes() const { return out_; }
  std::string take() { return std::move(out_); }

 private:
  void little(uint64_t v, int n) {
    for (int i = 0; i < n; ++i) out_.push_back(static_cast<char>(v >> (8 * i)));
  }
  std::string out_;
};

class ByteReader {
 public:
  explicit ByteReader(std::string_view in) : in_(in) {}
  uint8_t u8() { return static_cast<uint8_t>(little(1)); }
  uint16_t u16() { return static_cast<uint16_t>(little(2)); }
  uint32_t u32() { return static_cast<uint32_t>(little(4)); }
  uint64_t u64() { return little(8); }
  int64_t i64() { return static_cast<int64_t>(u64()); }
  // A string of at most max_bytes; a longer one makes the reader bad. The view lives as long as the input.
  std::string_view str(size_t max_bytes) {
    const uint32_t n = u32();
    if (n > max_bytes) bad_ = true;
    return raw(n);
  }
  std::string_view raw(size_t n) {
    if (bad_ || n > in_.size()) {
      bad_ = true;
      return {};
    }
    const std::string_view s = in_.substr(0, n);
    in_.remove_prefix(n);
    return s;
  }
  // A count of items that each take at least min_bytes_each: larger than what is left makes the reader bad (answer 0),
  // so a decoder may reserve that many.
  uint32_t count(size_t min_bytes_each) {
    const uint32_t n = u32();
    if (min_bytes_each != 0 && n > in_.size() / min_bytes_each) bad_ = true;
    return bad_ ? 0 : n;
  }
  size_t left() const { return in_.size(); }
  bool bad() const { return bad_; }
  void mark_bad() { bad_ = true; }
  // Everything was read and nothing was missing.
  bool done() const { return !bad_ && in_.empty(); }

 private:
  uint64_t little(int n) {
    const std::string_view s = raw(static_cast<size_t>(n));
    uint64_t v = 0;
    for (size_t i = 0; i < s.size(); ++i) v |= static_cast<uint64_t>(static_cast<uint8_t>(s[i])) << (8 * i);
    return v;
  }
  std::string_view in_;
  bool bad_ = false;
};

}  // namespace slipring
