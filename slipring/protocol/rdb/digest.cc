#include "slipring/protocol/rdb/digest.h"

#include <bit>
#include <memory>

namespace slipring::rdb {
namespace {

// Seeds keep apart what would otherwise hash alike: a list of one item and the string, a field and a value, ...
enum Seed : uint64_t {
  kSeedString = 1,
  kSeedMember,
  kSeedField,
  kSeedPair,
  kSeedScored,
  kSeedGroupName,
  kSeedConsumer,
  kSeedPending,
  kSeedGroup,
  kSeedStreamEntry,
  kSeedValue,
  kSeedKey,
};

// A fixed number of 64-bit words and hashes, hashed as one block.
class Block {
 public:
  Block& add(uint64_t word) {
    words_[count_++] = word;
    return *this;
  }
  Block& add(const Hash128& h) { return add(h.low).add(h.high); }
  Block& add(const StreamId& id) { return add(id.ms).add(id.seq); }
  Hash128 hash(uint64_t seed) const { return hash128(words_, count_ * sizeof words_[0], seed); }

 private:
  uint64_t words_[12];
  size_t count_ = 0;
};

// A running hash over items in order, each with its length in front.
class OrderedHash {
 public:
  OrderedHash() { XXH3_128bits_reset(&state_); }
  void add(std::string_view item) {
    const uint64_t n = item.size();
    XXH3_128bits_update(&state_, &n, sizeof n);
    XXH3_128bits_update(&state_, item.data(), item.size());
  }
  void add(const StreamId& id, uint64_t items) {
    const uint64_t words[] = {id.ms, id.seq, items};
    XXH3_128bits_update(&state_, words, sizeof words);
  }
  Hash128 hash() const {
    const XXH128_hash_t h = XXH3_128bits_digest(&state_);
    return {h.low64, h.high64};
  }

 private:
  XXH3_state_t state_;
};

class DigestVisitor : public ValueVisitor {
 public:
  explicit DigestVisitor(uint64_t now_ms) : now_ms_(now_ms) {}

  void on_string(std::string_view bytes) override {
    sum_ = hash128(bytes, kSeedString);
    elements_ = 1;
  }
  void on_list_item(std::string_view item) override {
    ordered().add(item);
    ++elements_;
  }
  void on_set_member(std::string_view member) override { add(hash128(member, kSeedMember)); }
  void on_hash_field(std::string_view field, std::string_view value, uint64_t expire_ms) override {
    if (expire_ms != 0 && expire_ms <= now_ms_) return;
    add(Block().add(hash128(field, kSeedField)).add(hash128(value, kSeedField)).add(expire_ms).hash(kSeedPair));
  }
  void on_zset_member(std::string_view member, double score) override {
    const double unsigned_zero = score == 0 ? 0.0 : score;
    add(Block().add(hash128(member, kSeedMember)).add(std::bit_cast<uint64_t>(unsigned_zero)).hash(kSeedScored));
  }
  void on_stream_entry(StreamId id, std::span<const std::string_view> items) override {
    ordered().add(id, items.size());
    for (const std::string_view item : items) ordered().add(item);
    ++elements_;
  }
  void on_stream(const StreamInfo& info) override {
    stream_ = Block().add(info.last_id).add(info.max_deleted_id).add(info.entries_added).hash(kSeedStreamEntry);
  }
  void on_stream_group(const StreamGroup& group) override;

  ValueDigest result(ValueKind kind) const {
    Block block;
    block.add(static_cast<uint64_t>(kind)).add(elements_).add(sum_).add(stream_);
    if (ordered_) block.add(ordered_->hash());
    return {block.hash(kSeedValue), kind, elements_};
  }

 private:
  void add(const Hash128& element) {
    sum_ += element;
    ++elements_;
  }
  // Its state is half a kilobyte, which strings, sets and hashes do not need.
  OrderedHash& ordered() {
    if (!ordered_) ordered_ = std::make_unique<OrderedHash>();
    return *ordered_;
  }

  uint64_t now_ms_;
  uint64_t elements_ = 0;
  Hash128 sum_;
  Hash128 stream_;
  std::unique_ptr<OrderedHash> ordered_;
};

void DigestVisitor::on_stream_group(const StreamGroup& group) {
  Hash128 consumers, pending;
  std::vector<Hash128> names;
  names.reserve(group.consumers.size());
  for (const std::string_view name : group.consumers) {
    names.push_back(hash128(name, kSeedConsumer));
    consumers += names.back();
  }
  for (const StreamPending& entry : group.pending) {
    pending += Block().add(entry.id).add(entry.deliveries).add(names[entry.consumer]).hash(kSeedPending);
  }
  Block block;
  block.add(hash128(group.name, kSeedGroupName)).add(group.last_delivered).add(group.entries_read);
  block.add(consumers).add(pending).add(group.consumers.size()).add(group.pending.size());
  sum_ += block.hash(kSeedGroup);
}

}  // namespace

std::string to_hex(const Digest& digest) {
  static const char kDigits[] = "0123456789abcdef";
  std::string out;
  for (const uint64_t word : {digest.high, digest.low}) {
    for (int shift = 60; shift >= 0; shift -= 4) out.push_back(kDigits[word >> shift & 15]);
  }
  return out;
}

Result<ValueDigest> digest_value(std::string_view payload, uint64_t now_ms, const DecodeLimits& limits) {
  DigestVisitor visitor(now_ms);
  SLIPRING_ASSIGN(const ValueKind kind, decode_value(payload, visitor, limits));
  return visitor.result(kind);
}

Digest digest_key(std::string_view key, std::optional<uint64_t> expire_ms, const ValueDigest& value) {
  Block block;
  block.add(hash128(key, kSeedKey)).add(expire_ms ? 1 : 0).add(expire_ms.value_or(0)).add(value.digest);
  return block.hash(kSeedKey);
}

void RangeDigest::add(const Digest& key, uint64_t payload_bytes) {
  sum += key;
  ++keys;
  bytes += payload_bytes;
}

void RangeDigest::remove(const Digest& key, uint64_t payload_bytes) {
  sum -= key;
  --keys;
  bytes -= payload_bytes;
}

RangeDigest& RangeDigest::operator+=(const RangeDigest& other) {
  sum += other.sum;
  keys += other.keys;
  bytes += other.bytes;
  return *this;
}

}  // namespace slipring::rdb
