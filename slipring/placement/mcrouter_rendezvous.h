// mcrouter-rendezvous and mcrouter-weighted-rendezvous: mcrouter's RendezvousHashFunc and WeightedRendezvousHashFunc,
// list for list.
//
// score = city_128_to_64(MurmurHash64A(endpoint), MurmurHash64A(key)) as a double; weighted: w / -ln(low 53 bits /
// 2^53). The greatest score owns, of equal ones the higher ordinal; the preference list is by falling score, as
// mcrouter's iterator gives it. The endpoint string is the label ("10.0.0.1:6379"). The weighted form uses the C
// library's log: a difference in its last bit could in theory turn a choice. Guarantee: perfect balance; keys move only
// to or from the node that changes. Cost: O(n), 8 or 16 bytes a node. Disruption: the node's own share only. Source:
// facebook/mcrouter 9d7f4342.
#pragma once

#include "slipring/placement/registry.h"

namespace slipring {

const SchemeDefinition& mcrouter_rendezvous_scheme();
const SchemeDefinition& mcrouter_weighted_rendezvous_scheme();

}  // namespace slipring
