#include "slipring/placement/ring.h"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <numeric>

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
    std::array<uint32_t, kGroup> positions;
    for (size_t begin = 0; begin < keys.size(); begin += kGroup) {
      const size_t n = std::min(kGroup, keys.size() - begin);
      for (size_t i = 0; i < n; ++i) points[i] = point_of(keys[begin + i]);
      ring_.at_or_after_all(std::span(points).first(n), std::span(positions).first(n));
      for (size_t i = 0; i < n; ++i) out[begin + i] = ring_.member(ring_.wrap(positions[i]));
    }
  }

  std::string_view tag(std::string_view key) const override { return redis_hash_tag(key); }

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

Result<std::unique_ptr<const Scheme>> make(const SchemeInput& input) {
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
    TokenBytes buffer(input.label(m));
    for (uint64_t j = 0; j < count; ++j) points.push_back({xxh3_64(buffer.of(static_cast<uint32_t>(j)), seed), m});
  }
  return std::make_unique<Ring>(PointRing<uint64_t>(std::move(points), Ties::kKeepInOrder), Zones(input.members, owns),
                                input.members.size(), seed);
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
        .make = make,
        .warnings = warnings};
    for (const ParameterInfo& option : ring_variant_options()) d.info.options.push_back(option);
    return d;
  }();
  return definition;
}

}  // namespace slipring
