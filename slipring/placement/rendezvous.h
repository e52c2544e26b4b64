// rendezvous: highest random weight. Every node has a score for the key, weight / -ln(u) with u in (0, 1) from key and
// label; the highest score owns, and the preference list is the order of scores, spread over zones like the ring's.
//
// Guarantee: shares follow the weights exactly, as even as the hash. Disruption: least possible; a change of weight
// moves keys only to or from that node. Cost: O(n), 16 bytes a node; lists O(n log n).
// Source: Thaler and Ravishankar 1998; Schindelhauer and Schomaker 2005 for the weights.
#pragma once

#include "slipring/placement/registry.h"

namespace slipring {

const SchemeDefinition& rendezvous_scheme();

}  // namespace slipring
