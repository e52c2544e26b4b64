// Many keys at little cost: KeyList, a list in one buffer; KeySet, a set with bounds that degrades to a bitmap of
// buckets when it is full; HashCounter, counts by 64-bit hash.
//
// Invariant of KeySet: every key inserted since the last take() or clear() is contained; when it overflowed, others may
// seem to be as well. Thread-safety: one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace slipring::rebalance {

class KeyList {
 public:
  void push(std::string_view key) {
    bytes_.append(key);
    ends_.push_back(bytes_.size());
  }
  size_t size() const { return ends_.size(); }
  bool empty() const { return ends_.empty(); }
  size_t bytes() const { return bytes_.size(); }
  std::string_view operator[](size_t i) const {
    const size_t begin = i == 0 ? 0 : ends_[i - 1];
    return std::string_view(bytes_).substr(begin, ends_[i] - begin);
  }
  void clear() {
    bytes_.clear();
    ends_.clear();
  }
  bool operator==(const KeyList&) const = default;

 private:
  std::string bytes_;
  std::vector<size_t> ends_;
};

uint64_t key_hash(std::string_view key);

class KeySet {
 public:
  KeySet(size_t keys_max, size_t bytes_max) : keys_max_(keys_max), bytes_max_(bytes_max) {}

  // False if it was there already. O(1). In an overflowed set only the key's bucket is marked.
  bool insert(std::string_view key);
  // Exact until the set overflowed.
  bool contains(std::string_view key) const;
  // Keys held exactly; 0 once it overflowed.
  size_t size() const { return keys_.size(); }
  bool empty() const { return keys_.empty() && !overflowed_; }
  bool overflowed() const { return overflowed_; }
  // The keys in order of insertion; the set is empty afterwards (an overflowed one keeps its buckets).
  KeyList take();
  void clear();

 private:
  static constexpr size_t kBuckets = 1u << 20;

  size_t slot_of(std::string_view key, uint64_t hash) const;
  void grow();
  void overflow();

  size_t keys_max_;
  size_t bytes_max_;
  KeyList keys_;
  std::vector<uint32_t> hashes_;  // of keys_, upper half, to compare before the bytes
  std::vector<uint32_t> slots_;   // open addressing: 1 + index into keys_, 0 = free
  bool overflowed_ = false;
  std::vector<uint64_t> buckets_;  // bitmap
};

// How often a hash was added and not yet removed. A collision counts two keys as one.
class HashCounter {
 public:
  void add(uint64_t hash);
  // False: there was none.
  bool remove(uint64_t hash);
  bool contains(uint64_t hash) const;
  size_t size() const { return used_; }
  void clear();

 private:
  struct Slot {
    uint64_t hash = 0;
    uint32_t count = 0;
  };
  size_t find(uint64_t hash) const;
  void grow();
  void erase_at(size_t i);

  std::vector<Slot> slots_;
  size_t used_ = 0;
};

}  // namespace slipring::rebalance
