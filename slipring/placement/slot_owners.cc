#include "slipring/placement/slot_owners.h"

#include <fmt/format.h>

#include "slipring/base/parse.h"

namespace slipring {
namespace {

struct SlotRange {
  uint32_t first;
  uint32_t last;
};

Result<SlotRange> parse_range(std::string_view text, uint32_t slot_count) {
  const size_t dash = text.find('-');
  SLIPRING_ASSIGN(const uint64_t first, parse_u64(text.substr(0, dash), 0, slot_count - 1));
  uint64_t last = first;
  if (dash != std::string_view::npos) {
    SLIPRING_ASSIGN(last, parse_u64(text.substr(dash + 1), first, slot_count - 1));
  }
  return SlotRange{static_cast<uint32_t>(first), static_cast<uint32_t>(last)};
}

// The next item of a comma list, cut off from `rest`.
std::string_view next_item(std::string_view& rest) {
  const size_t comma = rest.find(',');
  const std::string_view item = rest.substr(0, comma);
  rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
  return item;
}

Status claim(const SchemeInput& input, NodeIndex member, SlotRange range, std::vector<NodeIndex>& owners) {
  for (uint32_t slot = range.first; slot <= range.last; ++slot) {
    if (owners[slot] != kNoNode) {
      return fail(Code::kInvalidArgument, fmt::format("slot {}: named by {} and by {}", slot,
                                                      input.members[owners[slot]].name, input.members[member].name));
    }
    owners[slot] = member;
  }
  return {};
}

Status claim_all(const SchemeInput& input, NodeIndex member, std::string_view text, std::vector<NodeIndex>& owners) {
  while (!text.empty()) {
    const std::string_view item = next_item(text);
    auto range = parse_range(item, static_cast<uint32_t>(owners.size()));
    if (!range) {
      return fail(Code::kInvalidArgument, fmt::format("node {}: slots \"{}\": {}", input.members[member].name,
                                                      item.substr(0, 64), range.error().message));
    }
    SLIPRING_TRY(claim(input, member, *range, owners));
  }
  return {};
}

std::vector<NodeIndex> equal_shares(size_t members, uint32_t slot_count) {
  std::vector<NodeIndex> owners(slot_count);
  for (uint32_t slot = 0; slot < slot_count; ++slot) {
    owners[slot] = static_cast<NodeIndex>(uint64_t{slot} * members / slot_count);
  }
  return owners;
}

}  // namespace

Result<std::vector<NodeIndex>> slots_named_by(const SchemeInput& input, std::string_view attribute,
                                              uint32_t slot_count) {
  std::vector<NodeIndex> owners(slot_count, kNoNode);
  for (size_t i = 0; i < input.members.size(); ++i) {
    SLIPRING_TRY(claim_all(input, static_cast<NodeIndex>(i), input.attributes[i].text(attribute), owners));
  }
  return owners;
}

Result<std::vector<NodeIndex>> slot_owners(const SchemeInput& input, uint32_t slot_count) {
  bool any = false;
  for (const Parameters& attributes : input.attributes) any |= attributes.given(kSlotsAttribute.name);
  if (!any) return equal_shares(input.members.size(), slot_count);
  SLIPRING_ASSIGN(std::vector<NodeIndex> owners, slots_named_by(input, kSlotsAttribute.name, slot_count));
  for (uint32_t slot = 0; slot < slot_count; ++slot) {
    if (owners[slot] == kNoNode) return fail(Code::kInvalidArgument, fmt::format("slot {}: no node names it", slot));
  }
  return owners;
}

std::string slot_range_text(std::span<const NodeIndex> owners, uint32_t slot) {
  size_t first = slot;
  size_t last = slot;
  while (first > 0 && owners[first - 1] == owners[slot]) --first;
  while (last + 1 < owners.size() && owners[last + 1] == owners[slot]) ++last;
  return first == last ? fmt::format("slot {}", first) : fmt::format("slots {}-{}", first, last);
}

OwnershipMap slot_ownership(std::string_view space, std::span<const NodeIndex> owners) {
  OwnershipMap map{.space = std::string(space), .last = owners.size() - 1, .ranges = {}};
  for (size_t slot = 0; slot < owners.size(); ++slot) {
    if (slot + 1 < owners.size() && owners[slot + 1] == owners[slot]) continue;
    map.ranges.push_back({slot, owners[slot]});
  }
  return map;
}

std::optional<OwnershipMap> SlotScheme::ownership() const {
  return slot_ownership(space_, owners_);
}

Explanation SlotScheme::explain(std::string_view key) const {
  const uint32_t slot = slot_of(key);
  return {.point = fmt::format("slot {}", slot), .range = slot_range_text(owners_, slot)};
}

}  // namespace slipring
