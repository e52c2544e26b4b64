// The base of the Maglev family: owner = table[hash of the key % size]. A system's file fills the table and hashes the
// key; the members after the owner follow in ordinal order.
//
// Invariant: entries are members, or all are kNoNode. Thread-safety: immutable.
#pragma once

#include <vector>

#include "slipring/placement/registry.h"

namespace slipring {

class LookupTableScheme : public OrdinalScheme {
 public:
  // REQUIRES: the table is not empty.
  LookupTableScheme(std::span<const Member> members, std::vector<NodeIndex> table)
      : OrdinalScheme(members), table_(std::move(table)) {}

  NodeIndex owner(std::string_view key) const final { return table_[hash_of(key) % table_.size()]; }
  Explanation explain(std::string_view key) const final;
  std::span<const NodeIndex> table() const { return table_; }

 protected:
  virtual uint64_t hash_of(std::string_view key) const = 0;

 private:
  std::vector<NodeIndex> table_;
};

// A node's walk through the table: offset, offset + skip, offset + 2 skip, ... modulo a prime size meets every entry.
// next_free() is the first entry from `next` on that is still kNoNode; `next` is left behind it. 64-bit arithmetic.
// REQUIRES: some entry is free.
struct MaglevWalk {
  uint64_t offset = 0;
  uint64_t skip = 1;
  uint64_t next = 0;

  size_t next_free(std::span<const NodeIndex> table) {
    for (;;) {
      const size_t entry = (offset + skip * next++) % table.size();
      if (table[entry] == kNoNode) return entry;
    }
  }
};

bool is_prime(uint64_t n);

}  // namespace slipring
