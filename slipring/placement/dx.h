// dx: DxHash. A key walks a pseudo-random sequence of the 2^k places; the first place that holds a working node owns.
// Members hold the places in ordinal order; those of weight 0 are not working.
//
// Guarantee: even shares; only who works matters, not the order of changes. Disruption: only the share of the node
// while the number of places stays: choose `places` for the largest fleet, members are appended and never taken out.
// Weights are 0 or 1; the preference list goes on along the sequence. Cost: O(places / working), 1 bit a place.
// Source: Dong and Wang, DxHash, arXiv 2107.07930.
#pragma once

#include "slipring/placement/registry.h"

namespace slipring {

const SchemeDefinition& dx_scheme();

}  // namespace slipring
