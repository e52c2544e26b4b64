// Canonical digests: two DUMP payloads have the same value digest exactly if they hold the same logical value, whatever
// server version, encoding, compression and order of hash tables made the bytes. -0 is 0 as a score; the times of
// consumers and pending entries are left out; counters that streams before Redis 7.0 lack are filled by the rule of the
// newer servers; hash fields past their expiry are absent, by one clock reading that the caller gives for both sides.
//
// A digest finds accidents, not attacks: XXH3-128 is no cryptographic hash.
// Thread-safety: values and pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "slipring/base/result.h"
#include "slipring/protocol/rdb/hash128.h"
#include "slipring/protocol/rdb/value.h"

namespace slipring::rdb {

using Digest = Hash128;
// 32 lower-case hexadecimal digits.
std::string to_hex(const Digest& digest);

struct ValueDigest {
  Digest digest;
  ValueKind kind = ValueKind::kString;
  // Items, members, unexpired fields, stream entries; 1 for a string.
  uint64_t elements = 0;
  bool operator==(const ValueDigest&) const = default;
};

// The digest of a payload's value. now_ms: milliseconds since 1970; hash fields with an expiry at or before it count as
// absent (0: none does). Errors as decode_value().
Result<ValueDigest> digest_value(std::string_view payload, uint64_t now_ms, const DecodeLimits& limits = {});

// The digest of a key with its value and expiry (PEXPIRETIME in ms, nothing if the key does not expire).
Digest digest_key(std::string_view key, std::optional<uint64_t> expire_ms, const ValueDigest& value);

// What a set of keys adds up to, in any order; equal on both sides exactly if the same keys were added on both.
// bytes: payload bytes of one side, for reports; they differ between encodings, so == leaves them out.
struct RangeDigest {
  Digest sum;
  uint64_t keys = 0;
  uint64_t bytes = 0;

  void add(const Digest& key, uint64_t payload_bytes);
  // Takes back an earlier add() with the same arguments.
  void remove(const Digest& key, uint64_t payload_bytes);
  RangeDigest& operator+=(const RangeDigest& other);
  bool operator==(const RangeDigest& other) const { return sum == other.sum && keys == other.keys; }
};

}  // namespace slipring::rdb
