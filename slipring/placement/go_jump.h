// go-jump: dgryski/go-jump over XXH64 of the whole key, key for key: Jump consistent hash (jump.h) without a tag rule.
//
// Guarantee: even; growing from n to n+1 moves 1/(n+1) of the keys, all to the new node. Cost: O(log n), no memory.
// Disruption: none but that when the LAST node is added or removed; no other node may go.
// Source: Lamping and Veach, arXiv 1406.2294; dgryski/go-jump ba001c3f.
#pragma once

#include "slipring/placement/registry.h"

namespace slipring {

const SchemeDefinition& go_jump_scheme();

}  // namespace slipring
