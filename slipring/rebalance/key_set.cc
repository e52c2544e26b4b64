#include "slipring/rebalance/key_set.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace slipring::rebalance {

uint64_t key_hash(std::string_view key) {
  constexpr uint64_t kMultiplier = 0x9e3779b97f4a7c15ull;
  uint64_t h = key.size() * kMultiplier;
  for (size_t i = 0; i < key.size(); i += 8) {
    uint64_t word = 0;
    std::memcpy(&word, key.data() + i, std::min<size_t>(8, key.size() - i));
    h = (h ^ word) * kMultiplier;
    h ^= h >> 29;
  }
  h *= 0xbf58476d1ce4e5b9ull;
  return h ^ (h >> 32);
}

bool KeySet::insert(std::string_view key) {
  const uint64_t hash = key_hash(key);
  if (overflowed_) {
    uint64_t& word = buckets_[(hash % kBuckets) / 64];
    const uint64_t bit = 1ull << (hash % 64);
    const bool fresh = (word & bit) == 0;
    word |= bit;
    return fresh;
  }
  if (slots_.size() < 2 * (keys_.size() + 1)) grow();
  const size_t slot = slot_of(key, hash);
  if (slots_[slot] != 0) return false;
  if (keys_.size() >= keys_max_ || keys_.bytes() + key.size() > bytes_max_) {
    overflow();
    return insert(key);
  }
  keys_.push(key);
  hashes_.push_back(static_cast<uint32_t>(hash >> 32));
  slots_[slot] = static_cast<uint32_t>(keys_.size());
  return true;
}

bool KeySet::contains(std::string_view key) const {
  const uint64_t hash = key_hash(key);
  if (overflowed_) return (buckets_[(hash % kBuckets) / 64] >> (hash % 64)) & 1;
  return !slots_.empty() && slots_[slot_of(key, hash)] != 0;
}

KeyList KeySet::take() {
  KeyList taken = std::move(keys_);
  keys_ = KeyList();
  hashes_.clear();
  slots_.clear();
  return taken;
}

void KeySet::clear() {
  take();
  overflowed_ = false;
  buckets_.clear();
}

size_t KeySet::slot_of(std::string_view key, uint64_t hash) const {
  const size_t mask = slots_.size() - 1;
  const uint32_t upper = static_cast<uint32_t>(hash >> 32);
  for (size_t i = hash & mask;; i = (i + 1) & mask) {
    if (slots_[i] == 0) return i;
    const size_t index = slots_[i] - 1;
    if (hashes_[index] == upper && keys_[index] == key) return i;
  }
}

void KeySet::grow() {
  slots_.assign(std::max<size_t>(16, slots_.size() * 2), 0);
  const size_t mask = slots_.size() - 1;
  for (size_t index = 0; index < keys_.size(); ++index) {
    size_t i = key_hash(keys_[index]) & mask;
    while (slots_[i] != 0) i = (i + 1) & mask;
    slots_[i] = static_cast<uint32_t>(index + 1);
  }
}

void KeySet::overflow() {
  overflowed_ = true;
  buckets_.assign(kBuckets / 64, 0);
  const KeyList keys = take();
  for (size_t i = 0; i < keys.size(); ++i) insert(keys[i]);
}

void HashCounter::add(uint64_t hash) {
  if (slots_.size() < 2 * (used_ + 1)) grow();
  Slot& slot = slots_[find(hash)];
  if (slot.count == 0) ++used_;
  slot.hash = hash;
  ++slot.count;
}

bool HashCounter::remove(uint64_t hash) {
  if (used_ == 0) return false;
  const size_t i = find(hash);
  if (slots_[i].count == 0) return false;
  if (--slots_[i].count == 0) erase_at(i);
  return true;
}

bool HashCounter::contains(uint64_t hash) const {
  return used_ != 0 && slots_[find(hash)].count != 0;
}

void HashCounter::clear() {
  slots_.clear();
  used_ = 0;
}

size_t HashCounter::find(uint64_t hash) const {
  const size_t mask = slots_.size() - 1;
  size_t i = hash & mask;
  while (slots_[i].count != 0 && slots_[i].hash != hash) i = (i + 1) & mask;
  return i;
}

void HashCounter::grow() {
  std::vector<Slot> old = std::move(slots_);
  slots_.assign(std::max<size_t>(16, old.size() * 2), Slot{});
  for (const Slot& slot : old) {
    if (slot.count != 0) slots_[find(slot.hash)] = slot;
  }
}

// Linear probing without tombstones: what stood behind the hole and could not stand at it moves up.
void HashCounter::erase_at(size_t hole) {
  const size_t mask = slots_.size() - 1;
  slots_[hole] = Slot{};
  --used_;
  for (size_t i = (hole + 1) & mask; slots_[i].count != 0; i = (i + 1) & mask) {
    const size_t home = slots_[i].hash & mask;
    if (((i - home) & mask) < ((i - hole) & mask)) continue;
    slots_[hole] = slots_[i];
    slots_[i] = Slot{};
    hole = i;
  }
}

}  // namespace slipring::rebalance
