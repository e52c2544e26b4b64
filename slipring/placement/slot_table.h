// hash(key) % n over a table of slots: the plain sharding of memcached clients, where a server of weight w has w slots.
//
// Guarantee: shares in proportion to the slots, if the hash is even. Disruption: nearly all keys move when the number
// of slots changes. Thread-safety: immutable.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "slipring/placement/hashed_ring.h"
#include "slipring/placement/registry.h"
#include "slipring/placement/server_list.h"

namespace slipring {

class SlotTableScheme : public OrdinalScheme {
 public:
  // REQUIRES: at least one slot.
  SlotTableScheme(std::span<const Member> members, std::vector<NodeIndex> slots, KeyHash32 hash)
      : OrdinalScheme(members), slots_(std::move(slots)), hash_(hash) {}

  NodeIndex owner(std::string_view key) const override { return slots_[slot(key)]; }

  Explanation explain(std::string_view key) const override {
    return {.point = fmt::format("{:08x}", hash_(tag(key))), .range = fmt::format("slot {}", slot(key))};
  }

 protected:
  size_t slot(std::string_view key) const { return hash_(tag(key)) % slots_.size(); }

 private:
  std::vector<NodeIndex> slots_;
  KeyHash32 hash_;
};

inline Result<std::unique_ptr<const Scheme>> make_slot_table(const SchemeInput& input, const ServerList& servers,
                                                             KeyHash32 hash) {
  SLIPRING_ASSIGN(std::vector<NodeIndex> slots, weighted_slots(servers));
  return std::make_unique<SlotTableScheme>(input.members, std::move(slots), hash);
}

}  // namespace slipring
