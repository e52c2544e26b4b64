#include "slipring/placement/plan_moves.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "slipring/base/check.h"

namespace slipring {
namespace {

using Pair = std::pair<NodeIndex, NodeIndex>;
struct Amount {
  double share = 0;
  uint64_t ranges = 0;
};
using Amounts = std::map<Pair, Amount>;

// Walks two maps of one space together. The part of the space behind the last range belongs to the first one.
class RangeWalk {
 public:
  explicit RangeWalk(const OwnershipMap& map) : map_(map) {}
  // The owner of the point that ends at `end`, and of all down to the range's begin.
  uint32_t owner() const { return map_.ranges[at_ == map_.ranges.size() ? 0 : at_].owner; }
  uint64_t end() const { return at_ == map_.ranges.size() ? map_.last : map_.ranges[at_].end; }
  void pass(uint64_t end) {
    if (at_ < map_.ranges.size() && map_.ranges[at_].end == end) ++at_;
  }

 private:
  const OwnershipMap& map_;
  size_t at_ = 0;
};

// Calls piece(share, old owner, new owner) for every piece of the space in which neither owner changes.
template <typename Piece>
void for_each_piece(const OwnershipMap& before, const OwnershipMap& after, Piece piece) {
  RangeWalk old_walk(before);
  RangeWalk new_walk(after);
  const double size = static_cast<double>(before.last) + 1;
  uint64_t begin = 0;  // the next piece begins here
  while (true) {
    const uint64_t end = std::min(old_walk.end(), new_walk.end());
    piece((static_cast<double>(end - begin) + 1) / size, old_walk.owner(), new_walk.owner());
    if (end == before.last) return;
    old_walk.pass(end);
    new_walk.pass(end);
    begin = end + 1;
  }
}

// The keys of a sample, in groups.
template <typename Group>
void for_each_group_of_keys(Group group) {
  constexpr size_t kGroup = 1024;
  std::vector<std::string> keys(kGroup);
  std::vector<std::string_view> views(kGroup);
  for (uint64_t begin = 0; begin < kPlanSampleKeys; begin += kGroup) {
    for (size_t i = 0; i < kGroup; ++i) {
      keys[i] = fmt::format("sample:{}", begin + i);
      views[i] = keys[i];
    }
    group(std::span<const std::string_view>(views));
  }
}

// For each old member its index among the new ones, or kNoNode.
std::vector<NodeIndex> same_names(std::span<const Member> before, std::span<const Member> after) {
  std::unordered_map<std::string_view, NodeIndex> index;
  for (size_t i = 0; i < after.size(); ++i) index.emplace(after[i].name, static_cast<NodeIndex>(i));
  std::vector<NodeIndex> same;
  for (const Member& m : before) {
    const auto it = index.find(m.name);
    same.push_back(it == index.end() ? kNoNode : it->second);
  }
  return same;
}

// Fair shares by weight; members that all have weight 0 share alike.
std::vector<double> fair_shares(std::span<const Member> members) {
  double total = 0;
  for (const Member& m : members) total += static_cast<double>(m.weight_milli);
  std::vector<double> fair;
  for (const Member& m : members) {
    fair.push_back(total > 0 ? static_cast<double>(m.weight_milli) / total : 1.0 / static_cast<double>(members.size()));
  }
  return fair;
}

double least_share(const Placement& before, const Placement& after, const std::vector<NodeIndex>& same) {
  const std::vector<double> old_fair = fair_shares(before.members);
  std::vector<double> gain = fair_shares(after.members);
  for (size_t i = 0; i < same.size(); ++i) {
    if (same[i] != kNoNode) gain[same[i]] -= old_fair[i];
  }
  double least = 0;
  for (const double g : gain) least += std::max(g, 0.0);
  return least;
}

Amounts sampled_amounts(const Scheme& before, const Scheme& after, const std::vector<NodeIndex>& same) {
  Amounts amounts;
  std::vector<NodeIndex> old_owners(1024);
  std::vector<NodeIndex> new_owners(1024);
  for_each_group_of_keys([&](std::span<const std::string_view> keys) {
    before.owners(keys, old_owners);
    after.owners(keys, new_owners);
    for (size_t i = 0; i < keys.size(); ++i) {
      if (old_owners[i] == kNoNode || same[old_owners[i]] == new_owners[i]) continue;
      ++amounts[{old_owners[i], new_owners[i]}].ranges;
    }
  });
  for (auto& [pair, amount] : amounts) {
    amount.share = static_cast<double>(amount.ranges) / static_cast<double>(kPlanSampleKeys);
  }
  return amounts;
}

Amounts exact_amounts(const OwnershipMap& before, const OwnershipMap& after, const std::vector<NodeIndex>& same) {
  Amounts amounts;
  Pair last_pair = {kNoNode, kNoNode};
  for_each_piece(before, after, [&](double share, NodeIndex source, NodeIndex target) {
    const Pair pair = {source, target};
    if (same[source] != target) {
      Amount& amount = amounts[pair];
      amount.share += share;
      amount.ranges += pair != last_pair;
    }
    last_pair = pair;
  });
  return amounts;
}

}  // namespace

MovePlan plan_moves(const Placement& before, const Placement& after) {
  SLIPRING_CHECK(before.members.size() == before.scheme.member_count(), "the members the scheme was made with");
  SLIPRING_CHECK(after.members.size() == after.scheme.member_count(), "the members the scheme was made with");
  const std::vector<NodeIndex> same = same_names(before.members, after.members);
  const auto old_map = before.scheme.ownership();
  const auto new_map = after.scheme.ownership();
  MovePlan plan;
  plan.exact = old_map && new_map && old_map->space == new_map->space && old_map->last == new_map->last;
  plan.sampled_keys = plan.exact ? 0 : kPlanSampleKeys;
  plan.least_share = least_share(before, after, same);
  const Amounts amounts =
      plan.exact ? exact_amounts(*old_map, *new_map, same) : sampled_amounts(before.scheme, after.scheme, same);
  for (const auto& [pair, amount] : amounts) {
    plan.moves.push_back({pair.first, pair.second, amount.share, amount.ranges});
    plan.moved_share += amount.share;
  }
  return plan;
}

std::vector<double> plan_shares(const Scheme& scheme) {
  std::vector<double> shares(scheme.member_count());
  if (const auto map = scheme.ownership()) {
    for_each_piece(*map, *map, [&](double share, NodeIndex owner, NodeIndex) { shares[owner] += share; });
    return shares;
  }
  std::vector<NodeIndex> owners(1024);
  for_each_group_of_keys([&](std::span<const std::string_view> keys) {
    scheme.owners(keys, owners);
    for (const NodeIndex owner : owners) {
      if (owner != kNoNode) shares[owner] += 1.0 / static_cast<double>(kPlanSampleKeys);
    }
  });
  return shares;
}

}  // namespace slipring
