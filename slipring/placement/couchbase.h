// couchbase: vBucket = ((CRC32(key) >> 16) & 0x7fff) % vbuckets, owner by the vBucket map, key for key as libcouchbase.
// No hash tags.
//
// The map: every member names the vBuckets that are active on it ("slots") and those it holds as first, second or third
// replica ("replica1" to "replica3"); without "slots" members own equal contiguous shares. A preference list is the
// active node, then the replicas in their order, then the other members in ordinal order.
// Guarantee: an explicit map: a key moves only when somebody moves its vBucket. Cost: O(1), 16 bytes a vBucket.
// Disruption: as the map says. Source: libcouchbase 3ff90efc, vbucket map of the server's configuration.
#pragma once

#include "slipring/placement/registry.h"

namespace slipring {

// 0..vbuckets-1. Cost: one pass over the key. REQUIRES: vbuckets > 0.
uint32_t couchbase_vbucket(std::string_view key, uint32_t vbuckets);

const SchemeDefinition& couchbase_scheme();

}  // namespace slipring
