// buraksezer: buraksezer/consistent with XXH64, partition for partition.
//
// A key belongs to partition XXH64(key) % partition_count. Partitions, from 0 on, are placed on a ring of
// replication_factor points a member by XXH64 of their number (8 bytes, little endian); a member that has
// ceil(average * load) of them is passed over clockwise. Release 1.0 (2026) hashes points as "i:name"; releases 0.x
// hash "name" + "i", divide partitions by members in integers and never try the last point: they do not agree.
// Preference list: members in the order of XXH64(name), from the owner on.
// Guarantee: no member has more than its cap of partitions. Cost: O(1), 4 bytes a partition.
// Disruption: the node's partitions, and those that the changed caps push on. Source: buraksezer/consistent 24361c3d.
#pragma once

#include <string>
#include <vector>

#include "slipring/placement/registry.h"

namespace slipring {

enum class BuraksezerRelease { k0, k1 };

struct BuraksezerConfig {
  uint32_t partition_count = 271;
  uint32_t replication_factor = 20;
  double load = 1.25;
  BuraksezerRelease release = BuraksezerRelease::k1;
};

// By partition, its member. kInvalidArgument where the package panics: the caps leave no room.
Result<std::vector<NodeIndex>> buraksezer_partitions(std::span<const std::string_view> names,
                                                     const BuraksezerConfig& config);

uint32_t buraksezer_partition_of(std::string_view key, uint32_t partition_count);

const SchemeDefinition& buraksezer_scheme();

}  // namespace slipring
