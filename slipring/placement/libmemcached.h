// libmemcached 1.1.4, key for key: distributions modula, consistent, consistent_ketama, consistent_weighted and
// ketama_spy, with its key hashes, KETAMA_WEIGHTED and SORT_HOSTS. php-memcached 3.2.0 and pylibmc 1.6.3 are clients
// over it, with presets of their own.
//
// A member's label is host:port (port 11211 if none is written; a path stands for a Unix socket, port 0). A weight
// above 1 turns every consistent distribution into the weighted one; modula ignores weights.
//
// Guarantee: weighted, about weight/total of 160 points each; else 100 points each. Cost: one hash, one ring search;
// about 12 bytes a point. Disruption: consistent ones move about 1/n of the keys when a server comes or goes; modula
// nearly all. Source: behaviour of libmemcached 1.1.4 on amd64; its source, src/libmemcached/hosts.cc, hash.cc,
// behavior.cc.
#pragma once

#include "slipring/placement/registry.h"

namespace slipring {

const SchemeDefinition& libmemcached_scheme();
const SchemeDefinition& php_memcached_scheme();
const SchemeDefinition& pylibmc_scheme();

}  // namespace slipring
