// jump: Jump consistent hash over the members in ordinal order.
//
// Guarantee: every node has the same share, exactly as even as the hash. Disruption: a node added at the end takes 1/n
// from all; only the last node may go. Removing another one renumbers those after it, and nearly all keys move.
// No weights, no zones, no lists of its own. Cost: O(log n), no memory.
// Source: Lamping and Veach, arXiv 1406.2294.
#pragma once

#include "slipring/placement/registry.h"

namespace slipring {

const SchemeDefinition& jump_scheme();

// The bucket of a key among 1 or more buckets.
uint32_t jump_hash(uint64_t key, uint32_t buckets);

}  // namespace slipring
