#include "slipring/placement/redis_cluster.h"

#include "slipring/hash/crc.h"
#include "slipring/placement/hash_tag.h"
#include "slipring/placement/slot_owners.h"

namespace slipring {
namespace {

class RedisCluster final : public SlotScheme {
 public:
  using SlotScheme::SlotScheme;

  uint32_t slot_of(std::string_view key) const override { return redis_cluster_slot(key); }
  std::string_view tag(std::string_view key) const override { return redis_hash_tag(key); }
};

Result<std::unique_ptr<const Scheme>> make_redis_cluster(const SchemeInput& input) {
  SLIPRING_ASSIGN(std::vector<NodeIndex> owners, slot_owners(input, kRedisClusterSlots));
  return std::make_unique<RedisCluster>(input.members, "redis-cluster slots", std::move(owners));
}

}  // namespace

uint32_t redis_cluster_slot(std::string_view key) {
  return crc16_xmodem(redis_hash_tag(key)) & (kRedisClusterSlots - 1);
}

const SchemeDefinition& redis_cluster_scheme() {
  static const SchemeDefinition definition = {
      .info = {.name = "redis-cluster",
               .system = "Redis Cluster (redis-server 7.0.15)",
               .source = "Redis Cluster specification",
               .summary = "CRC16 of the tag or key, 16384 slots, an explicit table of slots",
               .attributes = {kSlotsAttribute},
               .disruption = "only the slots that are given to or taken from a node",
               .cost = "O(1), 64 KiB"},
      .make = make_redis_cluster};
  return definition;
}

}  // namespace slipring
