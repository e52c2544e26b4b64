// npm hashring 3.2.0 and npm memcached 2.2.2, which places by it, key for key.
//
// A member's label is host:port. A server has floor(weight/total * vnodes * n) digests of "host:port-k" ("host-k" if
// the port is option default_port), each giving `replicas` little-endian words, all in double arithmetic: 7, 14, 28,
// 49, ... equal servers get 39 of 40. A member's attribute `vnodes`, where it differs from the option, takes the place
// of its weight. Keys are hashed as their UTF-8. Equal points: the server listed first.
//
// Guarantee: about weight/total of vnodes * replicas points each. Cost: one digest, one ring search; about 12 bytes a
// point. Disruption: about 1/n of the keys, and few others where the counts round differently. Source: behaviour of
// hashring 3.2.0 and memcached 2.2.2 on Node.js; hashring's index.js.
#pragma once

#include "slipring/placement/registry.h"

namespace slipring {

const SchemeDefinition& npm_hashring_scheme();
// MD5, default port 11211.
const SchemeDefinition& npm_memcached_scheme();

}  // namespace slipring
