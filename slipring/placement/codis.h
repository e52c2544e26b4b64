// codis: slot = CRC32(tag or key) % 1024, owner by the slot table, key for key as the Codis proxy.
//
// The tag is what stands between the first '{' and the first '}' after it, and unlike Redis Cluster's an empty one
// counts: "{}x" hashes the empty string. Which argument of a command is the key (the third of EVAL, ZUNIONSTORE, ...)
// is the router's business. Members name their slots ("slots"); without that they own equal contiguous shares.
// Guarantee: an explicit table: a key moves only when somebody moves its slot. Cost: O(1), 4 KiB.
// Disruption: as redis-cluster. Source: CodisLabs/codis de1ad026, pkg/proxy/mapper.go.
#pragma once

#include "slipring/placement/registry.h"

namespace slipring {

inline constexpr uint32_t kCodisSlots = 1024;

// 0..1023. Cost: one pass over the key.
uint32_t codis_slot(std::string_view key);
// What the proxy hashes of the key.
std::string_view codis_tag(std::string_view key);

const SchemeDefinition& codis_scheme();

}  // namespace slipring
