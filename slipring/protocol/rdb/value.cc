#include "slipring/protocol/rdb/value.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>

#include "slipring/protocol/rdb/crc64.h"
#include "slipring/protocol/rdb/frame.h"
#include "slipring/protocol/rdb/lzf.h"
#include "slipring/protocol/rdb/value_reader.h"

namespace slipring::rdb {
namespace {

// RDB versions whose types we know: Redis up to 12; Valkey 9 counts from 80.
constexpr uint64_t kVersionMax = 12;
constexpr uint64_t kVersionValkey9 = 80;

constexpr uint64_t kEncodedInt8 = 0;
constexpr uint64_t kEncodedInt32 = 2;
constexpr uint64_t kEncodedLzf = 3;

constexpr uint64_t kContainerPlain = 1;
constexpr uint64_t kContainerPacked = 2;

// The whole text as a decimal or "inf", exactly rounded; NaN is no score.
bool parse_score(std::string_view text, double& score) {
  const char* end = text.data() + text.size();
  const auto r = std::from_chars(text.data(), end, score);
  return r.ec == std::errc() && r.ptr == end && !std::isnan(score);
}

bool score_of(const PackedItem& item, double& score) {
  if (!item.is_number) return parse_score(item.bytes, score);
  score = static_cast<double>(item.number);
  return true;
}

}  // namespace

std::string_view kind_name(ValueKind kind) {
  switch (kind) {
    case ValueKind::kString:
      return "string";
    case ValueKind::kList:
      return "list";
    case ValueKind::kSet:
      return "set";
    case ValueKind::kHash:
      return "hash";
    case ValueKind::kZset:
      return "zset";
    case ValueKind::kStream:
      return "stream";
  }
  return "unknown";
}

bool UniqueMembers::all_differ() {
  std::sort(hashes_.begin(), hashes_.end());
  return std::adjacent_find(hashes_.begin(), hashes_.end()) == hashes_.end();
}

bool ValueReader::bad(const char* why) {
  if (why_ == nullptr) why_ = why;
  return false;
}

Status ValueReader::status() const {
  if (too_large_) return fail(Code::kResourceExhausted, "rdb value: a part is above the limit");
  if (why_ != nullptr) return fail(Code::kDataLoss, std::string("rdb value: ") + why_);
  if (in_.bad()) return fail(Code::kDataLoss, "rdb value: ends too early");
  if (in_.left() != 0) return fail(Code::kDataLoss, "rdb value: bytes left over behind it");
  return {};
}

// 00 and 6 bits; 01 and 14 bits; 0x80 and 32 bits; 0x81 and 64 bits, all most significant byte first; 11: an encoding.
bool ValueReader::read_length_or_encoding(uint64_t& n, bool& is_encoding) {
  const uint8_t b = in_.u8();
  is_encoding = b >= 0xc0;
  n = b & 0x3fu;
  if (b >= 0x40 && b < 0x80) {
    n = n << 8 | in_.u8();
  } else if (b == 0x80) {
    n = in_.big(4);
  } else if (b == 0x81) {
    n = in_.big(8);
  } else if (b > 0x81 && b < 0xc0) {
    return bad("unknown form of a length");
  }
  return !in_.bad();
}

bool ValueReader::read_length(uint64_t& n) {
  bool is_encoding = false;
  return read_length_or_encoding(n, is_encoding) && (!is_encoding || bad("an encoding where a length belongs"));
}

bool ValueReader::read_count(uint64_t& n, uint64_t min_bytes) {
  if (!read_length(n)) return false;
  if (n == 0) return bad("empty value");
  return n <= in_.left() / min_bytes || bad("count larger than the value");
}

bool ValueReader::read_compressed(std::string& scratch, std::string_view& out) {
  uint64_t packed = 0, size = 0;
  if (!read_length(packed) || !read_length(size)) return false;
  const std::string_view bytes = in_.bytes(packed);
  if (in_.bad()) return false;
  if (size > bytes.size() * kLzfGrowthMax) return bad("compressed string cannot be as long as it says");
  if (size > limits_.blob_bytes_max) {
    too_large_ = true;
    return false;
  }
  scratch.clear();
  if (!lzf_decompress(bytes, static_cast<size_t>(size), scratch)) return bad("malformed compressed string");
  out = scratch;
  return true;
}

bool ValueReader::read_string(std::string& scratch, std::string_view& out) {
  uint64_t n = 0;
  bool is_encoding = false;
  if (!read_length_or_encoding(n, is_encoding)) return false;
  if (!is_encoding) {
    out = in_.bytes(n);
    return !in_.bad();
  }
  if (n == kEncodedLzf) return read_compressed(scratch, out);
  if (n > kEncodedLzf) return bad("unknown encoding of a string");
  static_assert(kEncodedInt8 == 0 && kEncodedInt32 == 2);
  const int64_t number = in_.little_signed(1 << n);
  if (in_.bad()) return false;
  ItemText text;
  scratch = text.of(number);
  out = scratch;
  return true;
}

bool ValueReader::read_string_value() {
  std::string_view bytes;
  if (!read_string(scratch_, bytes)) return false;
  visitor_.on_string(bytes);
  return true;
}

bool ValueReader::read_list() {
  uint64_t n = 0;
  if (!read_count(n, 1)) return false;
  for (; n > 0; --n) {
    std::string_view item;
    if (!read_string(scratch_, item)) return false;
    visitor_.on_list_item(item);
  }
  return true;
}

template <typename Pack>
bool ValueReader::add_list_node(std::string_view blob) {
  Pack pack(blob);
  PackedItem item;
  ItemText text;
  while (pack.next(item)) {
    visitor_.on_list_item(text(item));
    ++list_items_;
  }
  return pack.ok() || bad("malformed list node");
}

bool ValueReader::read_ziplist_list() {
  std::string_view blob;
  if (!read_string(scratch_, blob) || !add_list_node<Ziplist>(blob)) return false;
  return list_items_ > 0 || bad("empty value");
}

// Nodes: ziplists; or, with a container, one plain element or a listpack. Empty nodes are legal, an empty list is not.
bool ValueReader::read_quicklist(bool has_container) {
  uint64_t n = 0;
  if (!read_count(n, has_container ? 2 : 1)) return false;
  for (; n > 0; --n) {
    uint64_t container = kContainerPacked;
    std::string_view blob;
    if (has_container && !read_length(container)) return false;
    if (!read_string(scratch_, blob)) return false;
    if (container == kContainerPlain) {
      visitor_.on_list_item(blob);
      ++list_items_;
    } else if (container != kContainerPacked) {
      return bad("unknown container of a list node");
    } else if (!(has_container ? add_list_node<Listpack>(blob) : add_list_node<Ziplist>(blob))) {
      return false;
    }
  }
  return list_items_ > 0 || bad("empty value");
}

bool ValueReader::all_members_differ() {
  if (members_.size() == 0) return bad("empty value");
  return members_.all_differ() || bad("the same member twice");
}

bool ValueReader::read_set() {
  uint64_t n = 0;
  if (!read_count(n, 1)) return false;
  for (; n > 0; --n) {
    std::string_view member;
    if (!read_string(scratch_, member)) return false;
    members_.add(member);
    visitor_.on_set_member(member);
  }
  return all_members_differ();
}

// Text scores: a length byte, then %.17g; 253 NaN, 254 inf, 255 -inf.
bool ValueReader::read_score(bool binary, double& score) {
  if (binary) {
    score = std::bit_cast<double>(in_.little(8));
    return !in_.bad() && (!std::isnan(score) || bad("a score is NaN"));
  }
  const uint8_t n = in_.u8();
  if (n == 253) return bad("a score is NaN");
  if (n >= 254) {
    score = n == 254 ? HUGE_VAL : -HUGE_VAL;
    return true;
  }
  const std::string_view text = in_.bytes(n);
  return !in_.bad() && (parse_score(text, score) || bad("a score is no number"));
}

bool ValueReader::read_zset(bool binary_scores) {
  uint64_t n = 0;
  if (!read_count(n, 2)) return false;
  for (; n > 0; --n) {
    std::string_view member;
    double score = 0;
    if (!read_string(scratch_, member) || !read_score(binary_scores, score)) return false;
    members_.add(member);
    visitor_.on_zset_member(member, score);
  }
  return all_members_differ();
}

// With TTL: 8 bytes, the earliest expiry; before each field its expiry - that + 1, or 0 for none.
bool ValueReader::read_hash(bool has_ttl) {
  const uint64_t earliest = has_ttl ? in_.little(8) : 0;
  uint64_t n = 0;
  if (!read_count(n, has_ttl ? 3 : 2)) return false;
  for (; n > 0; --n) {
    uint64_t ttl = 0;
    std::string_view field, value;
    if (has_ttl && !read_length(ttl)) return false;
    if (!read_string(scratch_, field) || !read_string(other_scratch_, value)) return false;
    if (ttl > 0 && earliest + ttl - 1 < earliest) return bad("a field's expiry is out of range");
    members_.add(field);
    visitor_.on_hash_field(field, value, ttl == 0 ? 0 : earliest + ttl - 1);
  }
  return all_members_differ();
}

template <typename Pack>
bool ValueReader::read_packed_set() {
  std::string_view blob;
  if (!read_string(scratch_, blob)) return false;
  Pack pack(blob);
  PackedItem item;
  ItemText text;
  while (pack.next(item)) {
    const std::string_view member = text(item);
    members_.add(member);
    visitor_.on_set_member(member);
  }
  return (pack.ok() || bad("malformed packed set")) && all_members_differ();
}

template <typename Pack>
bool ValueReader::read_packed_zset() {
  std::string_view blob;
  if (!read_string(scratch_, blob)) return false;
  Pack pack(blob);
  PackedItem member, score_item;
  ItemText text;
  while (pack.next(member)) {
    double score = 0;
    if (!pack.next(score_item)) return bad("a member without score");
    if (!score_of(score_item, score)) return bad("a score is no number");
    const std::string_view name = text(member);
    members_.add(name);
    visitor_.on_zset_member(name, score);
  }
  return (pack.ok() || bad("malformed packed sorted set")) && all_members_differ();
}

template <typename Pack>
bool ValueReader::read_packed_hash() {
  std::string_view blob;
  if (!read_string(scratch_, blob)) return false;
  Pack pack(blob);
  PackedItem field, value;
  ItemText field_text, value_text;
  while (pack.next(field)) {
    if (!pack.next(value)) return bad("a field without value");
    const std::string_view name = field_text(field);
    members_.add(name);
    visitor_.on_hash_field(name, value_text(value), 0);
  }
  return (pack.ok() || bad("malformed packed hash")) && all_members_differ();
}

// 8 bytes, the earliest expiry, which may be wrong and says nothing the fields do not: passed over. Then a listpack of
// field, value, expiry in ms (0 = none).
bool ValueReader::read_packed_ttl_hash() {
  in_.little(8);
  std::string_view blob;
  if (!read_string(scratch_, blob)) return false;
  Listpack pack(blob);
  PackedItem field, value, ttl;
  ItemText field_text, value_text;
  while (pack.next(field)) {
    if (!pack.next(value) || !pack.next(ttl)) return bad("a field without value or expiry");
    if (!ttl.is_number || ttl.number < 0) return bad("a field's expiry is no time");
    const std::string_view name = field_text(field);
    members_.add(name);
    visitor_.on_hash_field(name, value_text(value), static_cast<uint64_t>(ttl.number));
  }
  return (pack.ok() || bad("malformed packed hash")) && all_members_differ();
}

namespace {

// Checks the frame; `value` is what stands between type byte and footer.
Status open_frame(std::string_view payload, std::string_view& value) {
  if (payload.size() < kFooterBytes + 1) return fail(Code::kDataLoss, "rdb value: shorter than its frame");
  const std::string_view summed = payload.substr(0, payload.size() - 8);
  const uint64_t version = Cursor(payload.substr(payload.size() - kFooterBytes)).little(2);
  if (crc64(summed) != Cursor(payload.substr(payload.size() - 8)).little(8)) {
    return fail(Code::kDataLoss, "rdb value: checksum does not match");
  }
  if (version == 0 || (version > kVersionMax && version != kVersionValkey9)) {
    return fail(Code::kUnimplemented, "cannot decode RDB version " + std::to_string(version));
  }
  value = payload.substr(1, payload.size() - kFooterBytes - 1);
  return {};
}

// False if the value is malformed (the reader knows why); kind stays empty for a type that is not known.
bool read_value(uint8_t type, ValueReader& reader, ValueKind& kind, bool& known) {
  const auto is = [&kind](ValueKind k) { kind = k; };
  switch (type) {
    case 0:
      is(ValueKind::kString);
      return reader.read_string_value();
    case 1:
      is(ValueKind::kList);
      return reader.read_list();
    case 10:
      is(ValueKind::kList);
      return reader.read_ziplist_list();
    case 14:
      is(ValueKind::kList);
      return reader.read_quicklist(false);
    case 18:
      is(ValueKind::kList);
      return reader.read_quicklist(true);
    case 2:
      is(ValueKind::kSet);
      return reader.read_set();
    case 11:
      is(ValueKind::kSet);
      return reader.read_packed_set<Intset>();
    case 20:
      is(ValueKind::kSet);
      return reader.read_packed_set<Listpack>();
    case 3:
      is(ValueKind::kZset);
      return reader.read_zset(false);
    case 5:
      is(ValueKind::kZset);
      return reader.read_zset(true);
    case 12:
      is(ValueKind::kZset);
      return reader.read_packed_zset<Ziplist>();
    case 17:
      is(ValueKind::kZset);
      return reader.read_packed_zset<Listpack>();
    case 4:
      is(ValueKind::kHash);
      return reader.read_hash(false);
    case 24:
      is(ValueKind::kHash);
      return reader.read_hash(true);
    case 9:
      is(ValueKind::kHash);
      return reader.read_packed_hash<Zipmap>();
    case 13:
      is(ValueKind::kHash);
      return reader.read_packed_hash<Ziplist>();
    case 16:
      is(ValueKind::kHash);
      return reader.read_packed_hash<Listpack>();
    case 25:
      is(ValueKind::kHash);
      return reader.read_packed_ttl_hash();
    case 15:
    case 19:
    case 21:
      is(ValueKind::kStream);
      return reader.read_stream(type);
    default:
      known = false;
      return false;
  }
}

}  // namespace

Result<ValueKind> decode_value(std::string_view payload, ValueVisitor& visitor, const DecodeLimits& limits) {
  std::string_view value;
  SLIPRING_TRY(open_frame(payload, value));
  const auto type = static_cast<uint8_t>(payload[0]);
  ValueReader reader(value, visitor, limits);
  ValueKind kind = ValueKind::kString;
  bool known = true;
  const bool whole = read_value(type, reader, kind, known);
  if (!known) return fail(Code::kUnimplemented, "cannot decode type " + std::to_string(type));
  SLIPRING_TRY(reader.status());
  if (!whole) return fail(Code::kInternal, "rdb value: refused without a reason");
  return kind;
}

}  // namespace slipring::rdb
