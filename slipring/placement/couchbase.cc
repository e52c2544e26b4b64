#include "slipring/placement/couchbase.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "slipring/hash/crc.h"
#include "slipring/placement/slot_owners.h"

namespace slipring {
namespace {

constexpr size_t kReplicasMax = 3;
constexpr std::array<std::string_view, kReplicasMax> kReplicaAttributes = {"replica1", "replica2", "replica3"};

// The active node of every vBucket, then its replicas; kNoNode where the map names none.
using Map = std::array<std::vector<NodeIndex>, 1 + kReplicasMax>;

class Couchbase final : public Scheme {
 public:
  Couchbase(size_t members, Map map) : Scheme(members), map_(std::move(map)) {}

  NodeIndex owner(std::string_view key) const override { return map_[0][vbucket(key)]; }

  size_t preference_list(std::string_view key, std::span<NodeIndex> out) const override {
    const uint32_t bucket = vbucket(key);
    size_t filled = 0;
    for (const auto& nodes : map_) {
      const NodeIndex node = nodes[bucket];
      if (filled < out.size() && node != kNoNode && !holds(out.first(filled), node)) out[filled++] = node;
    }
    const std::span<const NodeIndex> mapped = out.first(filled);
    for (NodeIndex i = 0; i < member_count() && filled < out.size(); ++i) {
      if (!holds(mapped, i)) out[filled++] = i;
    }
    return filled;
  }

  std::optional<OwnershipMap> ownership() const override {
    return slot_ownership(fmt::format("couchbase vBuckets {}", map_[0].size()), map_[0]);
  }

  Explanation explain(std::string_view key) const override {
    const uint32_t bucket = vbucket(key);
    return {.point = fmt::format("vBucket {}", bucket), .range = slot_range_text(map_[0], bucket)};
  }

 private:
  uint32_t vbucket(std::string_view key) const { return couchbase_vbucket(key, static_cast<uint32_t>(map_[0].size())); }

  static bool holds(std::span<const NodeIndex> nodes, NodeIndex node) {
    return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
  }

  Map map_;
};

Result<std::unique_ptr<const Scheme>> make_couchbase(const SchemeInput& input) {
  const auto vbuckets = static_cast<uint32_t>(input.options.unsigned_integer("vbuckets"));
  Map map;
  SLIPRING_ASSIGN(map[0], slot_owners(input, vbuckets));
  for (size_t i = 0; i < kReplicasMax; ++i) {
    SLIPRING_ASSIGN(map[1 + i], slots_named_by(input, kReplicaAttributes[i], vbuckets));
  }
  return std::make_unique<Couchbase>(input.members.size(), std::move(map));
}

ParameterInfo replica_attribute(size_t i) {
  constexpr std::array<std::string_view, kReplicasMax> kDocs = {"vBuckets whose first replica the node holds",
                                                                "vBuckets whose second replica the node holds",
                                                                "vBuckets whose third replica the node holds"};
  return {kReplicaAttributes[i], ParameterType::kText, "", "", kDocs[i]};
}

}  // namespace

uint32_t couchbase_vbucket(std::string_view key, uint32_t vbuckets) {
  return ((crc32(key) >> 16) & 0x7fff) % vbuckets;
}

const SchemeDefinition& couchbase_scheme() {
  static const SchemeDefinition definition = {
      .info = {.name = "couchbase",
               .system = "Couchbase (libcouchbase 3ff90efc)",
               .source = "vbucket map of the server's configuration; libcouchbase",
               .summary = "CRC32 of the key, a power of two of vBuckets, an explicit map with replicas",
               .options = {{"vbuckets", ParameterType::kUnsigned, "1024", "1..32768", "number of vBuckets"}},
               .attributes = {kSlotsAttribute, replica_attribute(0), replica_attribute(1), replica_attribute(2)},
               .preference_lists = true,
               .disruption = "only the vBuckets that the map gives to or takes from a node",
               .cost = "O(1), 16 bytes a vBucket"},
      .make = make_couchbase};
  return definition;
}

}  // namespace slipring
