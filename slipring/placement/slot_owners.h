// A fixed number of slots and who owns each: the base of the systems that hash a key to a slot and look the owner up
// (Redis Cluster, Codis, Couchbase). Members name their slots by an attribute: "0-5460,10923".
//
// Invariant: every slot has one owner. Thread-safety: immutable.
#pragma once

#include <string_view>
#include <vector>

#include "slipring/placement/registry.h"

namespace slipring {

inline constexpr ParameterInfo kSlotsAttribute = {"slots", ParameterType::kText, "", "",
                                                  "slots that the node owns, both ends included: \"0-5460,10923\""};

// By slot, the member whose attribute names it; kNoNode where none does. kInvalidArgument: not of this form, an end
// before its start, a slot outside 0..slot_count-1, a slot named twice.
Result<std::vector<NodeIndex>> slots_named_by(const SchemeInput& input, std::string_view attribute,
                                              uint32_t slot_count);

// By slot, its owner: from kSlotsAttribute where any member has it, else in equal contiguous shares in ordinal order.
// kInvalidArgument as above, and a slot that no member names.
Result<std::vector<NodeIndex>> slot_owners(const SchemeInput& input, uint32_t slot_count);

// REQUIRES of derived classes: slot_of() answers less than the number of slots; `space` outlives the scheme.
class SlotScheme : public OrdinalScheme {
 public:
  SlotScheme(std::span<const Member> members, std::string_view space, std::vector<NodeIndex> owners)
      : OrdinalScheme(members), space_(space), owners_(std::move(owners)) {}

  NodeIndex owner(std::string_view key) const final { return owners_[slot_of(key)]; }
  Explanation explain(std::string_view key) const final;
  // Positions are the slots; `space` names the function key -> slot.
  std::optional<OwnershipMap> ownership() const final;
  virtual uint32_t slot_of(std::string_view key) const = 0;

 private:
  std::string_view space_;
  std::vector<NodeIndex> owners_;
};

// One range for every run of slots with the same owner.
OwnershipMap slot_ownership(std::string_view space, std::span<const NodeIndex> owners);

// The run of slots around `slot` with the same owner: "slots 0-5460".
std::string slot_range_text(std::span<const NodeIndex> owners, uint32_t slot);

}  // namespace slipring
