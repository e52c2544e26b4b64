// envoy-maglev: Envoy's Maglev load balancer, table for table.
//
// Hosts in the order of their hash keys (label: "10.0.0.1:6379", hostname or metadata hash_key); offset and skip from
// XXH64 with seeds 0 and 1; a host has a turn when iteration * w >= target, and target then rises by the greatest
// weight (all in doubles, weights normalised to sum 1). Key: XXH64, or redis_proxy's (envoy_key.h). The preference list holds the owner, then what
// Envoy's retries would pick (attempt a looks up hash ^ -a), then the rest in ordinal order.
// Guarantee: shares within one turn of the weights. Cost: one hash, one table read; 4 bytes an entry.
// Disruption: mostly the node's own share, and a few per cent of other keys. Source: envoy maglev_lb.cc; the tables
// printed in its unit tests are reproduced.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "slipring/placement/registry.h"

namespace slipring {

struct WeightedHost {
  std::string key;  // what is hashed
  double weight = 1;
};

// By entry, the index of the host. Hosts of weight 0 get none. REQUIRES: some weight > 0; table_size is prime.
// Cost: O(table_size * greatest weight / mean weight).
std::vector<NodeIndex> envoy_maglev_table(std::span<const WeightedHost> hosts, size_t table_size);

const SchemeDefinition& envoy_maglev_scheme();

}  // namespace slipring
