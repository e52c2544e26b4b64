// HAProxy 2.6.12's `balance hash` with hash-type consistent or map-based, key for key.
//
// A member is a `server` line, in order; only its id and weight count. Ids that are not given (attribute `id`) come
// from a counter from 1 that skips used ids and also advances past servers with an id of their own. consistent: 16
// points for each unit of weight, and the NEAREST point owns, in either direction. map-based: hash modulo a table in
// which servers take turns. A member with `disabled` true or weight 0 owns nothing, but keeps its id.
//
// Guarantee: shares in proportion to the weights (consistent: few points, so unevenly). Cost: one hash, one ring search
// or table access. Disruption: consistent about 1/n of the keys where ids are explicit; with automatic ids the servers
// after a removed one are renumbered; map-based nearly all.
// Source: behaviour of HAProxy 2.6.12; its lb_chash.c, lb_map.c, hash.c.
#pragma once

#include "slipring/placement/registry.h"

namespace slipring {

const SchemeDefinition& haproxy_scheme();

}  // namespace slipring
