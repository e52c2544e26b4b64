// slots: a fixed number of equal parts of the hash space, each owned by one node (Dynamo's third strategy; what Redis
// Cluster, Codis and Couchbase do with their own hashes). Slot of a key = hash * slots / 2^64.
//
// The table says who owns which slot, written "0-340=n1;341-682=n2;683-1023=n1". Without one, slots are dealt out in
// ordinal order in proportion to weights; then a change of nodes is planned with reassign_slots(), which gives a table
// with the fewest slots moved. `split` k cuts every slot into k and keeps its owner: the key space gets finer and no
// key moves. Guarantee: shares as even as the slots can be dealt. Disruption: the slots that change hands, no more.
// Preference list: the owners of the next slots, distinct, zones first. Cost: O(1), 4 bytes a slot. Source: DeCandia et
// al., Dynamo, SOSP 2007, section 6.2. Thread-safety: immutable; pure functions.
#pragma once

#include "slipring/placement/registry.h"

namespace slipring {

inline constexpr uint64_t kSlotsMax = 1 << 20;

const SchemeDefinition& slots_scheme();

// Owner by slot.
using SlotTable = std::vector<NodeIndex>;

// Slots in proportion to weights, by largest remainder (of equal ones the earlier member), in ordinal order.
SlotTable deal_slots(uint64_t slots, std::span<const Member> members);

// The table after a change from `old_members` to `new_members` (matched by name): every member has its due share, at
// most one slot more or less, and as few slots as possible change their owner.
SlotTable reassign_slots(const SlotTable& table, std::span<const Member> old_members,
                         std::span<const Member> new_members);

// "0-340=n1;341-682=n2" and back. kInvalidArgument: a slot twice or not at all, an unknown or drained node.
std::string format_slots(const SlotTable& table, std::span<const Member> members);
Result<SlotTable> parse_slots(std::string_view text, uint64_t slots, std::span<const Member> members);

// The spec that the same pool has after a change of members: for `slots` with the table that reassign_slots() gives,
// for every other scheme the spec unchanged. kInvalidArgument if the old placement cannot be made.
Result<SchemeSpec> spec_after_change(const SchemeSpec& spec, std::span<const Member> old_members,
                                     std::span<const Member> new_members);

}  // namespace slipring
