#include "slipring/placement/buraksezer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "slipring/hash/load.h"
#include "slipring/hash/xx.h"
#include "slipring/placement/point_ring.h"
#include "slipring/placement/server_list.h"
#include "slipring/placement/slot_owners.h"

namespace slipring {
namespace {

PointRing<uint64_t> make_ring(std::span<const std::string_view> names, const BuraksezerConfig& config) {
  std::vector<RingPoint<uint64_t>> points;
  for (NodeIndex member = 0; member < names.size(); ++member) {
    for (uint32_t i = 0; i < config.replication_factor; ++i) {
      const std::string text = config.release == BuraksezerRelease::k1 ? fmt::format("{}:{}", i, names[member])
                                                                       : fmt::format("{}{}", names[member], i);
      points.push_back({xxh64(text), member});
    }
  }
  return PointRing<uint64_t>(std::move(points), Ties::kKeepLast);
}

double cap_of(size_t members, const BuraksezerConfig& config) {
  const double average = config.release == BuraksezerRelease::k1
                             ? static_cast<double>(config.partition_count) / static_cast<double>(members)
                             : static_cast<double>(config.partition_count / members);
  return std::ceil(average * config.load);
}

class Buraksezer final : public Scheme {
 public:
  Buraksezer(std::span<const std::string_view> names, std::vector<NodeIndex> partitions)
      : Scheme(names.size()), partitions_(std::move(partitions)), by_hash_(names.size()), place_(names.size()) {
    std::iota(by_hash_.begin(), by_hash_.end(), 0);
    std::stable_sort(by_hash_.begin(), by_hash_.end(),
                     [&](NodeIndex a, NodeIndex b) { return xxh64(names[a]) < xxh64(names[b]); });
    for (uint32_t i = 0; i < by_hash_.size(); ++i) place_[by_hash_[i]] = i;
  }

  NodeIndex owner(std::string_view key) const override { return partitions_[partition_of(key)]; }

  size_t preference_list(std::string_view key, std::span<NodeIndex> out) const override {
    const size_t count = std::min(out.size(), by_hash_.size());
    const size_t first = place_[owner(key)];
    for (size_t i = 0; i < count; ++i) out[i] = by_hash_[(first + i) % by_hash_.size()];
    return count;
  }

  Explanation explain(std::string_view key) const override {
    return {.point = fmt::format("partition {}", partition_of(key)), .range = ""};
  }

  std::optional<OwnershipMap> ownership() const override {
    return slot_ownership(fmt::format("xxh64 % {}", partitions_.size()), partitions_);
  }

 private:
  uint32_t partition_of(std::string_view key) const {
    return buraksezer_partition_of(key, static_cast<uint32_t>(partitions_.size()));
  }

  std::vector<NodeIndex> partitions_;
  std::vector<NodeIndex> by_hash_;  // members in the order of the hash of their names
  std::vector<uint32_t> place_;     // by member, its index in by_hash_
};

Result<std::unique_ptr<const Scheme>> make_buraksezer(const SchemeInput& input) {
  const BuraksezerConfig config = {
      .partition_count = static_cast<uint32_t>(input.options.unsigned_integer("partition_count")),
      .replication_factor = static_cast<uint32_t>(input.options.unsigned_integer("replication_factor")),
      .load = input.options.decimal("load"),
      .release = input.options.text("release") == "1.0" ? BuraksezerRelease::k1 : BuraksezerRelease::k0};
  SLIPRING_TRY(check_points(uint64_t{config.replication_factor} * input.members.size()));
  SLIPRING_TRY(check_distinct_labels(listed_servers(input)));
  std::vector<std::string_view> names;
  for (size_t i = 0; i < input.members.size(); ++i) names.push_back(input.label(i));
  SLIPRING_ASSIGN(std::vector<NodeIndex> partitions, buraksezer_partitions(names, config));
  return std::make_unique<Buraksezer>(names, std::move(partitions));
}

}  // namespace

uint32_t buraksezer_partition_of(std::string_view key, uint32_t partition_count) {
  return static_cast<uint32_t>(xxh64(key) % partition_count);
}

Result<std::vector<NodeIndex>> buraksezer_partitions(std::span<const std::string_view> names,
                                                     const BuraksezerConfig& config) {
  const PointRing<uint64_t> ring = make_ring(names, config);
  const double cap = cap_of(names.size(), config);
  const size_t tries_max = config.release == BuraksezerRelease::k1 ? ring.size() : ring.size() - 1;
  std::vector<double> loads(names.size());
  std::vector<NodeIndex> partitions;
  for (uint64_t partition = 0; partition < config.partition_count; ++partition) {
    char bytes[8];
    store_le64(bytes, partition);
    size_t at = ring.wrap(ring.at_or_after(xxh64({bytes, sizeof bytes})));
    size_t tries = 0;
    for (; tries < tries_max && loads[ring.member(at)] + 1 > cap; ++tries) at = ring.wrap(at + 1);
    if (tries == tries_max) {
      return fail(Code::kInvalidArgument,
                  fmt::format("no room for partition {}: fewer partitions, more nodes or a greater load", partition));
    }
    partitions.push_back(ring.member(at));
    ++loads[ring.member(at)];
  }
  return partitions;
}

const SchemeDefinition& buraksezer_scheme() {
  static const SchemeDefinition definition = {
      .info = {.name = "buraksezer",
               .system = "buraksezer/consistent 24361c3d (1.0) and 0.x",
               .source = "consistent.go of buraksezer/consistent",
               .summary = "partitions on a ring with a cap of each member's load, XXH64",
               .options = {{"partition_count", ParameterType::kUnsigned, "271", "1..1048576",
                            "partitions, best a prime"},
                           {"replication_factor", ParameterType::kUnsigned, "20", "1..10000", "points a member"},
                           {"load", ParameterType::kDecimal, "1.25", "0.001..1000", "cap over the average"},
                           {"release", ParameterType::kChoice, "1.0", "1.0|0.x", "how points and caps are computed"}},
               .preference_lists = true,
               .disruption = "the node's partitions and those that changed caps push on",
               .cost = "O(1), 4 bytes a partition"},
      .make = make_buraksezer};
  return definition;
}

}  // namespace slipring
