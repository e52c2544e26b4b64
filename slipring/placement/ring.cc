#include "slipring/placement/ring.h"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <numeric>
#include <unordered_map>

#include "slipring/base/parse.h"
#include "slipring/hash/xx.h"
#include "slipring/placement/hash_tag.h"
#include "slipring/placement/point_ring.h"
#include "slipring/placement/ring_tokens.h"
#include "slipring/placement/ring_variants.h"
#include "slipring/placement/zones.h"

namespace slipring {
namespace {

class Ring final : public Scheme {
 public:
  Ring(PointRing<uint64_t> ring, Zones zones, size_t member_count, uint64_t seed)
      : Scheme(member_count), ring_(std::move(ring)), zones_(std::move(zones)), seed_(seed) {}

  NodeIndex owner(std::string_view key) const override { return ring_.owner_at_or_after(point_of(key)); }

  size_t preference_list(std::string_view key, std::span<NodeIndex> out) const override {
    return zones_.preference_list(ring_, position_of(point_of(key)), out);
  }

  void owners(std::span<const std::string_view> keys, std::span<NodeIndex> out) const override {
    constexpr size_t kGroup = 64;
    std::array<uint64_t, kGroup> points;
    for (size_t begin = 0; begin < keys.size(); begin += kGroup) {
      const size_t n = std::min(kGroup, keys.size() - begin);
      for (size_t i = 0; i < n; ++i) points[i] = point_of(keys[begin + i]);
      ring_.owners_at_or_after_all(std::span(points).first(n), out.subspan(begin, n));
    }
  }

  std::string_view tag(std::string_view key) const override { return redis_hash_tag(key); }
  const PointRing<uint64_t>& ring() const { return ring_; }

  Explanation explain(std::string_view key) const override {
    const uint64_t point = point_of(key);
    const size_t at = position_of(point);
    return {.point = fmt::format("{:016x}", point),
            .range = fmt::format("({:016x}, {:016x}]", ring_.point(ring_.before(at)), ring_.point(at))};
  }

  std::optional<OwnershipMap> ownership() const override {
    OwnershipMap map;
    map.space = fmt::format("xxh3-64 seed {} tag redis", seed_);
    map.last = UINT64_MAX;
    map.ranges.reserve(ring_.size());
    for (size_t i = 0; i < ring_.size(); ++i) {
      if (i > 0 && ring_.point(i) == ring_.point(i - 1)) continue;
      map.ranges.push_back({ring_.point(i), ring_.member(i)});
    }
    return map;
  }

 private:
  uint64_t point_of(std::string_view key) const { return xxh3_64(redis_hash_tag(key), seed_); }
  size_t position_of(uint64_t point) const { return ring_.wrap(ring_.at_or_after(point)); }

  PointRing<uint64_t> ring_;
  Zones zones_;
  uint64_t seed_;
};

void add_tokens(std::string_view label, uint64_t from, uint64_t to, uint64_t seed, NodeIndex m,
                std::vector<RingPoint<uint64_t>>* out) {
  TokenBytes buffer(label);
  for (uint64_t j = from; j < to; ++j) out->push_back({xxh3_64(buffer.of(static_cast<uint32_t>(j)), seed), m});
}

Result<std::unique_ptr<const Scheme>> make_ring(const SchemeInput& input) {
  if (is_ring_variant(input)) return make_ring_variant(input);
  const uint64_t vnodes = input.options.unsigned_integer("vnodes");
  const uint64_t seed = input.options.unsigned_integer("seed");
  SLIPRING_ASSIGN(const uint64_t total, count_tokens(input, vnodes));
  std::vector<RingPoint<uint64_t>> points;
  points.reserve(total);
  std::vector<bool> owns(input.members.size());
  for (const NodeIndex m : members_by_label(input)) {
    const uint64_t count = vnode_count(vnodes, input.members[m].weight_milli);
    owns[m] = count > 0;
    add_tokens(input.label(m), 0, count, seed, m, &points);
  }
  return std::make_unique<Ring>(PointRing<uint64_t>(std::move(points), Ties::kKeepInOrder), Zones(input.members, owns),
                                input.members.size(), seed);
}

// By member, its place in members_by_label().
std::vector<NodeIndex> ranks_by_label(const SchemeInput& input) {
  std::vector<NodeIndex> ranks(input.members.size());
  NodeIndex rank = 0;
  for (const NodeIndex m : members_by_label(input)) ranks[m] = rank++;
  return ranks;
}

// What a change of members means for the tokens.
struct TokenChange {
  std::vector<NodeIndex> stays_as;           // by old member: its new index; kNoNode: all its tokens go
  std::vector<RingPoint<uint64_t>> removed;  // of members that stay; by token, then by rank
  std::vector<RingPoint<uint64_t>> added;    // by token, then by rank
};

void sort_by_rank(const std::vector<NodeIndex>& ranks, std::vector<RingPoint<uint64_t>>* points) {
  std::sort(points->begin(), points->end(), [&](const auto& a, const auto& b) {
    return std::pair(a.point, ranks[a.member]) < std::pair(b.point, ranks[b.member]);
  });
}

TokenChange change_of(const SchemeInput& before, const SchemeInput& after, uint64_t vnodes, uint64_t seed) {
  std::unordered_map<std::string_view, NodeIndex> old_index;
  for (size_t i = 0; i < before.members.size(); ++i) old_index.emplace(before.members[i].name, i);
  TokenChange change{.stays_as = std::vector<NodeIndex>(before.members.size(), kNoNode), .removed = {}, .added = {}};
  for (NodeIndex m = 0; m < after.members.size(); ++m) {
    const uint64_t count = vnode_count(vnodes, after.members[m].weight_milli);
    const auto it = old_index.find(after.members[m].name);
    if (it == old_index.end() || before.label(it->second) != after.label(m)) {
      add_tokens(after.label(m), 0, count, seed, m, &change.added);
      continue;
    }
    const uint64_t had = vnode_count(vnodes, before.members[it->second].weight_milli);
    change.stays_as[it->second] = m;
    add_tokens(after.label(m), had, std::max(had, count), seed, m, &change.added);
    add_tokens(after.label(m), count, std::max(had, count), seed, it->second, &change.removed);
  }
  sort_by_rank(ranks_by_label(before), &change.removed);
  return change;
}

std::vector<RingPoint<uint64_t>> changed_tokens(const PointRing<uint64_t>& ring, const TokenChange& change,
                                                const std::vector<NodeIndex>& ranks) {
  std::vector<RingPoint<uint64_t>> points;
  points.reserve(ring.size() + change.added.size());
  auto removed = change.removed.begin();
  auto added = change.added.begin();
  for (size_t i = 0; i < ring.size(); ++i) {
    const RingPoint<uint64_t> old = {ring.point(i), ring.member(i)};
    const RingPoint<uint64_t> now = {old.point, change.stays_as[old.member]};
    if (now.member == kNoNode) continue;
    if (removed != change.removed.end() && removed->point == old.point && removed->member == old.member) {
      ++removed;
      continue;
    }
    for (; added != change.added.end() && added->point <= now.point; ++added) {
      if (added->point == now.point && ranks[added->member] > ranks[now.member]) break;
      points.push_back(*added);
    }
    points.push_back(now);
  }
  points.insert(points.end(), added, change.added.end());
  return points;
}

std::unique_ptr<const Scheme> remake(const Scheme& old, const SchemeInput& before, const SchemeInput& after) {
  const auto* ring = dynamic_cast<const Ring*>(&old);
  const uint64_t vnodes = after.options.unsigned_integer("vnodes");
  const uint64_t seed = after.options.unsigned_integer("seed");
  const bool same =
      before.options.unsigned_integer("vnodes") == vnodes && before.options.unsigned_integer("seed") == seed;
  if (ring == nullptr || is_ring_variant(after) || !same || !count_tokens(after, vnodes)) return nullptr;
  TokenChange change = change_of(before, after, vnodes, seed);
  if (change.added.size() > ring->ring().size() / 4) return nullptr;  // sorting those would cost as much as a build
  const std::vector<NodeIndex> ranks = ranks_by_label(after);
  sort_by_rank(ranks, &change.added);
  std::vector<bool> owns(after.members.size());
  for (size_t m = 0; m < owns.size(); ++m) owns[m] = after.members[m].weight_milli > 0;
  return std::make_unique<Ring>(PointRing<uint64_t>::of_sorted(changed_tokens(ring->ring(), change, ranks)),
                                Zones(after.members, owns), after.members.size(), seed);
}

std::vector<std::string> warnings(const SchemeInput& input) {
  const uint64_t vnodes = input.options.unsigned_integer("vnodes");
  std::vector<std::string> found;
  for (const Member& member : input.members) {
    const uint64_t count = vnode_count(vnodes, member.weight_milli);
    if (count == 0 || count >= kVnodesFair) continue;
    found.push_back(fmt::format("node {}: only {} tokens: its share will be far from its weight; use at least {}",
                                member.name, count, kVnodesFair));
  }
  return found;
}

}  // namespace

Result<uint64_t> count_tokens(const SchemeInput& input, uint64_t vnodes) {
  uint64_t total = 0;
  for (const Member& member : input.members) total += vnode_count(vnodes, member.weight_milli);
  if (total > kTokensMax) {
    return fail(Code::kInvalidArgument,
                fmt::format("{} tokens in all: at most {}; choose fewer vnodes or smaller weights", total, kTokensMax));
  }
  return total;
}

std::vector<NodeIndex> members_by_label(const SchemeInput& input) {
  std::vector<NodeIndex> order(input.members.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](NodeIndex a, NodeIndex b) {
    return std::pair(input.label(a), std::string_view(input.members[a].name)) <
           std::pair(input.label(b), std::string_view(input.members[b].name));
  });
  return order;
}

uint64_t ring_token(std::string_view label, uint32_t j, uint64_t seed) {
  return xxh3_64(TokenBytes(label).of(j), seed);
}

uint64_t ring_point(std::string_view key, uint64_t seed) {
  return xxh3_64(redis_hash_tag(key), seed);
}

const SchemeDefinition& ring_scheme() {
  static const SchemeDefinition definition = [] {
    SchemeDefinition d = {
        .info = {.name = "ring",
                 .system = "slipring",
                 .source = "Karger et al., Consistent Hashing and Random Trees, STOC 1997",
                 .summary = "consistent hashing with virtual nodes on a 64-bit circle; the default",
                 .options = {{"vnodes", ParameterType::kUnsigned, "512", "1..1048576", "tokens per unit of weight"},
                             {"seed", ParameterType::kUnsigned, "0", "", "seed of the hash, for tokens and keys"}},
                 .attributes = ring_variant_attributes(),
                 .weights = Weights::kUsed,
                 .zones = true,
                 .preference_lists = true,
                 .disruption = "only the share of the node added, removed or given another weight",
                 .cost = "O(1) expected; 16 bytes a token, 8 of them touched by look-ups"},
        .make = make_ring,
        .remake = remake,
        .warnings = warnings};
    for (const ParameterInfo& option : ring_variant_options()) d.info.options.push_back(option);
    return d;
  }();
  return definition;
}

}  // namespace slipring
