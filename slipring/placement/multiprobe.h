// multiprobe: one point a node and k probes a key; the node whose point follows any probe most closely owns.
//
// Guarantee: the largest share is bounded, about 1 + 1/k of the mean for k = 21; the smallest is not: a node just
// behind another gets almost nothing. Disruption: only the share of the node added or removed. No weights, no zones;
// the preference list goes on clockwise from the owner's point. Cost: O(k) searches, 8 to 16 bytes a node. Source:
// Appleton and O'Reilly, arXiv 1505.00062.
#pragma once

#include "slipring/placement/registry.h"

namespace slipring {

const SchemeDefinition& multiprobe_scheme();

}  // namespace slipring
