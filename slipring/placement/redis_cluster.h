// redis-cluster: slot = CRC16/XMODEM(tag or key) & 16383, owner by the slot table, key for key as Redis Cluster and
// Valkey Cluster.
//
// The tag is what stands between the first '{' and the first '}' after it; an empty one does not count, then the whole
// key does. Members name their slots ("slots"); without that they own equal contiguous shares.
// Guarantee: an explicit table: a key moves only when somebody moves its slot. Cost: O(1), 64 KiB.
// Disruption: adding or removing a node moves the slots that are given to or taken from it; the default shares are
// contiguous and shift, so give the table explicitly. Source: Redis Cluster specification; redis-server 7.0.15.
#pragma once

#include "slipring/placement/registry.h"

namespace slipring {

inline constexpr uint32_t kRedisClusterSlots = 16384;

// 0..16383. Cost: one pass over the key.
uint32_t redis_cluster_slot(std::string_view key);

const SchemeDefinition& redis_cluster_scheme();

}  // namespace slipring
