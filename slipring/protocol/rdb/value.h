// Decoder of DUMP payloads: type byte, value, RDB version (2 bytes), CRC-64. It reads every type that Redis 3.0 to 7.4
// and Valkey 8 write except modules, and calls a visitor for each part of the value, so no tree is built: memory is one
// decompressed blob, and a hash of 16 bytes for each member of a set, hash or sorted set (to find duplicates).
//
// A payload is hostile until it has been read: everything is bounded by the end of the value, bytes left over, counts
// that cannot be, duplicates and wrong order are refused. A type not known is refused, never guessed.
// Thread-safety: pure function over the caller's visitor.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <string_view>

#include "slipring/base/result.h"

namespace slipring::rdb {

enum class ValueKind : uint8_t { kString = 1, kList = 2, kSet = 3, kHash = 4, kZset = 5, kStream = 6 };
std::string_view kind_name(ValueKind kind);

struct StreamId {
  uint64_t ms = 0;
  uint64_t seq = 0;
  auto operator<=>(const StreamId&) const = default;
};

inline constexpr uint64_t kEntriesReadUnknown = ~uint64_t{0};

struct StreamInfo {
  uint64_t entries = 0;
  StreamId last_id;
  StreamId max_deleted_id;
  uint64_t entries_added = 0;
};

struct StreamPending {
  StreamId id;
  uint64_t deliveries = 0;
  uint32_t consumer = 0;  // index into StreamGroup::consumers
};

struct StreamGroup {
  std::string_view name;
  StreamId last_delivered;
  uint64_t entries_read = 0;  // or kEntriesReadUnknown
  std::span<const std::string_view> consumers;
  std::span<const StreamPending> pending;  // ascending by id
};

// What a value consists of, in the order of the payload (which means nothing for sets, hashes and sorted sets). Views
// live during the call only. After an error of decode_value() what was visited is to be thrown away.
class ValueVisitor {
 public:
  virtual ~ValueVisitor() = default;
  virtual void on_string(std::string_view) {}
  virtual void on_list_item(std::string_view) {}
  virtual void on_set_member(std::string_view) {}
  // expire_ms: milliseconds since 1970, 0 = never. Fields past their expiry are visited too.
  virtual void on_hash_field(std::string_view, std::string_view, uint64_t /*expire_ms*/) {}
  // Never NaN; -0 as it stands in the payload.
  virtual void on_zset_member(std::string_view, double) {}
  // Live entries only: field, value, field, value, ...
  virtual void on_stream_entry(StreamId, std::span<const std::string_view>) {}
  // After the last entry, before the groups. For streams of Redis before 7.0, which lack the counters, the counters
  // here and in the groups are what a newer server makes of them.
  virtual void on_stream(const StreamInfo&) {}
  virtual void on_stream_group(const StreamGroup&) {}
};

struct DecodeLimits {
  // One string, or one packed blob, after decompression.
  uint64_t blob_bytes_max = uint64_t{1} << 30;
};

// kUnimplemented "cannot decode type N" for modules and unknown types; kDataLoss for anything malformed;
// kResourceExhausted above a limit. Cost: O(payload) plus decompression; n log n for members of tables.
Result<ValueKind> decode_value(std::string_view payload, ValueVisitor& visitor, const DecodeLimits& limits = {});

}  // namespace slipring::rdb
