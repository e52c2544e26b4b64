// How Envoy's redis_proxy sends keys to a cluster.
// Thread-safety: pure.
#pragma once

#include <string>

#include "slipring/import/tree.h"

namespace slipring::import {

struct EnvoyRedisUse {
  bool found = false;
  bool hash_tag = false;   // enable_hashtagging
  std::string key_prefix;  // only these keys are sent there; empty: all that no other route takes
};

// kFailedPrecondition: routes that change keys, or several that lead to the cluster.
Result<EnvoyRedisUse> find_redis_use(const Tree& root, const std::string& cluster, Draft& draft);

}  // namespace slipring::import
