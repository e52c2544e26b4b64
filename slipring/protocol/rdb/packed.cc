#include "slipring/protocol/rdb/packed.h"

#include <charconv>

namespace slipring::rdb {
namespace {

constexpr uint16_t kCountUnknown = 0xffff;
constexpr uint8_t kEndMark = 0xff;

// Sign-extends the low `bits` of v.
int64_t extend(uint64_t v, int bits) {
  return static_cast<int64_t>(v << (64 - bits)) >> (64 - bits);
}

}  // namespace

std::string_view ItemText::of(int64_t number) {
  const char* end = std::to_chars(text_, text_ + sizeof text_, number).ptr;
  return {text_, static_cast<size_t>(end - text_)};
}

// --- listpack: u32 bytes, u16 count, entries, 0xff. Entry: encoding, data, its own size 7 bits a byte (read
// backwards).

Listpack::Listpack(std::string_view blob) : in_(blob) {
  const uint64_t bytes = in_.little(4);
  count_ = static_cast<uint16_t>(in_.little(2));
  if (bytes != blob.size()) in_.fail();
}

void Listpack::read_value(PackedItem& item) {
  const uint8_t e = in_.u8();
  item.is_number = true;
  if (e < 0x80) {
    item.number = e;
  } else if (e < 0xc0) {
    item = {in_.bytes(e & 0x3f), 0, false};
  } else if (e < 0xe0) {
    item.number = extend(uint64_t{e & 0x1fu} << 8 | in_.u8(), 13);
  } else if (e < 0xf0) {
    const uint64_t n = uint64_t{e & 0x0fu} << 8 | in_.u8();
    item = {in_.bytes(n), 0, false};
  } else if (e == 0xf0) {
    item = {in_.bytes(in_.little(4)), 0, false};
  } else if (e <= 0xf3) {
    item.number = in_.little_signed(e - 0xf1 + 2);
  } else if (e == 0xf4) {
    item.number = in_.little_signed(8);
  } else {
    in_.fail();
  }
}

bool Listpack::finish() {
  ended_ = true;
  if (in_.left() != 0 || (count_ != kCountUnknown && count_ != seen_)) in_.fail();
  return false;
}

bool Listpack::next(PackedItem& item) {
  if (in_.bad() || ended_) return false;
  const size_t before = in_.left();
  if (before == 1) return in_.u8() == kEndMark ? finish() : in_.fail();
  read_value(item);
  // The size of the entry, most significant 7 bits first; all but the first of these bytes have the high bit.
  const uint64_t bytes = before - in_.left();
  uint64_t back = in_.u8();
  const int back_bytes = bytes <= 127 ? 1 : bytes < 16383 ? 2 : bytes < 2097151 ? 3 : bytes < 268435455 ? 4 : 5;
  if (back > 127) return in_.fail();
  for (int i = 1; i < back_bytes; ++i) {
    const uint8_t b = in_.u8();
    if (b < 128) return in_.fail();
    back = back << 7 | (b & 127u);
  }
  if (in_.bad() || back != bytes) return in_.fail();
  ++seen_;
  return true;
}

// --- ziplist: u32 bytes, u32 offset of the last entry, u16 count, entries, 0xff. Entry: size of the one before (one
// byte, or 0xfe and u32), encoding, data.

Ziplist::Ziplist(std::string_view blob) : in_(blob), size_(blob.size()) {
  const uint64_t bytes = in_.little(4);
  tail_ = static_cast<size_t>(in_.little(4));
  count_ = static_cast<uint16_t>(in_.little(2));
  last_ = size_ - in_.left();
  if (bytes != blob.size()) in_.fail();
}

void Ziplist::read_value(PackedItem& item) {
  const uint8_t e = in_.u8();
  item.is_number = true;
  if (e < 0x40) {
    item = {in_.bytes(e), 0, false};
  } else if (e < 0x80) {
    const uint64_t n = uint64_t{e & 0x3fu} << 8 | in_.u8();
    item = {in_.bytes(n), 0, false};
  } else if (e == 0x80) {
    item = {in_.bytes(in_.big(4)), 0, false};
  } else if (e == 0xc0 || e == 0xd0 || e == 0xe0) {
    item.number = in_.little_signed(2 << ((e - 0xc0) >> 4));
  } else if (e == 0xf0) {
    item.number = in_.little_signed(3);
  } else if (e == 0xfe) {
    item.number = in_.little_signed(1);
  } else if (e > 0xf0 && e < 0xfe) {
    item.number = (e & 0x0f) - 1;
  } else {
    in_.fail();
  }
}

bool Ziplist::finish() {
  ended_ = true;
  if (in_.left() != 0 || (count_ != kCountUnknown && count_ != seen_) || tail_ != last_) in_.fail();
  return false;
}

bool Ziplist::next(PackedItem& item) {
  if (in_.bad() || ended_) return false;
  const size_t before = in_.left();
  uint64_t previous = in_.u8();
  if (previous == kEndMark) return in_.bad() ? false : finish();
  if (previous == 0xfe) previous = in_.little(4);
  if (previous != last_bytes_) return in_.fail();
  read_value(item);
  last_ = size_ - before;
  last_bytes_ = before - in_.left();
  ++seen_;
  return !in_.bad();
}

// --- intset: u32 width (2, 4, 8), u32 count, the values in ascending order.

Intset::Intset(std::string_view blob) : in_(blob) {
  const uint64_t width = in_.little(4);
  left_ = in_.little(4);
  const bool known = width == 2 || width == 4 || width == 8;
  if (!known || left_ * width != in_.left()) in_.fail();
  width_ = known ? static_cast<int>(width) : 2;
}

bool Intset::next(PackedItem& item) {
  if (in_.bad() || left_ == 0) return false;
  item = {{}, in_.little_signed(width_), true};
  if (!first_ && item.number <= last_) return in_.fail();
  first_ = false;
  last_ = item.number;
  --left_;
  return true;
}

// --- zipmap: u8 count (254 and up: unknown), then length, field, length, u8 free, value, free bytes; 0xff.

Zipmap::Zipmap(std::string_view blob) : in_(blob) {
  count_ = in_.u8();
}

// False at the end mark.
bool Zipmap::read_length(uint64_t& n) {
  n = in_.u8();
  if (n == kEndMark) return false;
  if (n == 254) n = in_.little(4);
  return !in_.bad();
}

bool Zipmap::next(PackedItem& item) {
  if (in_.bad() || ended_) return false;
  const bool is_value = seen_ % 2 == 1;
  uint64_t n = 0;
  if (!read_length(n)) {
    ended_ = true;
    if (is_value || in_.left() != 0 || (count_ < 254 && seen_ != 2u * count_)) in_.fail();
    return false;
  }
  const uint64_t unused = is_value ? in_.u8() : 0;
  item = {in_.bytes(n), 0, false};
  in_.bytes(unused);
  ++seen_;
  return !in_.bad();
}

}  // namespace slipring::rdb
