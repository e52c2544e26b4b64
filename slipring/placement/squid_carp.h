// Squid 5.7's CARP peer selection, key for key. Keys are URLs; the host counts in lower case, the scheme's own port
// not.
//
// A member's label is the peer's name. Peers are sorted by weight, lightest first; the largest score = combined hash *
// multiplier owns. The hash of the URL is never reset between peers: the k-th peer sees the URL k times over, so owners
// depend on the order and number of peers.
//
// Guarantee: shares in proportion to the weights; a share below 0.001 counts as 0. Cost: the URL hashed once for each
// peer. Disruption: most keys move when a peer comes or goes (the textbook's CARP moves 1/n).
// Source: behaviour of Squid 5.7; its src/carp.cc.
#pragma once

#include "slipring/placement/registry.h"

namespace slipring {

const SchemeDefinition& squid_carp_scheme();

}  // namespace slipring
