// groupcache: the consistenthash package of golang/groupcache, key for key.
//
// Points: CRC32 of decimal(i) + name (label: what Add was given), i below "replicas" (50 in groupcache's HTTP pool);
// owner = first point >= CRC32(key), wrapping; of equal points the node added later owns. groupcache has no preference
// lists and no removal: a list goes on clockwise, and a removed node is as if it had never been added.
// Guarantee: ring. Cost: O(1) search, 6 bytes a point. Disruption: the node's own share.
// Source: golang/groupcache 2c02b820.
#pragma once

#include "slipring/placement/registry.h"

namespace slipring {

const SchemeDefinition& groupcache_scheme();

}  // namespace slipring
