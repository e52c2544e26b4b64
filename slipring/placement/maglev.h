// maglev: a table of M slots, M prime, that nodes fill in turns, each along its own permutation; owner = table[hash %
// M].
//
// Guarantee: with equal weights shares differ by at most one slot. Disruption: on a change the share of the node, and a
// few per cent of other keys besides. Cost: O(1), one read; 4 M bytes; M should be above 100 n.
// Source: Eisenbud et al., Maglev, NSDI 2016. Nodes take turns in order of their labels; one of weight w takes a turn
// as often as w compares with the largest weight.
#pragma once

#include "slipring/placement/registry.h"

namespace slipring {

const SchemeDefinition& maglev_scheme();

}  // namespace slipring
