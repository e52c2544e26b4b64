// Apache Traffic Server 9.2.9's consistent_hash parent selection, key for key. Keys are URL paths with query.
//
// A member's label is the parent's host WITHOUT its port, or its hash string (after '&'). A parent has round(1024 *
// weight) points: SipHash-2-4 of "j-label", zero key, on a 64-bit ring. Parents of one label collide entirely: the
// first listed takes all. The key is hashed as '/' + path, without ;params, with ?query unless qstring is ignore.
//
// Guarantee: shares in proportion to the weights. Cost: one hash, one ring search; about 16 bytes a point.
// Disruption: only the keys of the parent that comes or goes.
// Source: behaviour of trafficserver 9.2.9; its ConsistentHash.cc, HashSip.cc, ParentConsistentHash.cc.
#pragma once

#include "slipring/placement/registry.h"

namespace slipring {

const SchemeDefinition& trafficserver_scheme();

}  // namespace slipring
