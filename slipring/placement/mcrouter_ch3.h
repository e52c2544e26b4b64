// mcrouter-ch3, mcrouter-weighted-ch3, mcrouter-weighted-furc: mcrouter's hash functions Ch3, WeightedCh3 and the
// weighted furc of WeightedCh4, key for key. Servers are known by their ordinal only; labels play no part.
//
// Weights are probabilities, 0 to 1 (mcrouter takes 0.5 for a missing one: write it); a refused key is spread over the
// other servers. A server of weight 0 can still get the few keys that were refused 32 times.
// Guarantee: even (ch3); near the weights (weighted). Cost: O(log n), 8 bytes a server if weighted.
// Disruption: only the last server can be added or removed without moving other keys; lowering a weight moves only that
// server's keys. Source: furc.h.
#pragma once

#include "slipring/placement/registry.h"

namespace slipring {

const SchemeDefinition& mcrouter_ch3_scheme();
const SchemeDefinition& mcrouter_weighted_ch3_scheme();
const SchemeDefinition& mcrouter_weighted_furc_scheme();

}  // namespace slipring
