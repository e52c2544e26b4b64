// The oldest sharding of memcached clients: bits 16 to 30 of the key's CRC-32, modulo a list of servers in which each
// stands as often as its weight. python-memcached 1.58, Cache::Memcached 1.30 (Perl), Cache::Memcached::Fast 0.28
// (Perl; also its ketama) and php-memcache's `standard` do so, with small differences, key for key.
//
// Guarantee: shares in proportion to the weights, as far as 32,768 hash values can. Cost: one CRC, one table access.
// Disruption: nearly all keys move when the number of slots changes; with Fast's ketama about 1/n of them.
// Source: behaviour of those versions against memcached 1.6.18.
#pragma once

#include "slipring/placement/registry.h"

namespace slipring {

// A hash of 0 counts as 1.
const SchemeDefinition& python_memcached_scheme();
const SchemeDefinition& perl_cache_memcached_scheme();
// Weights may be fractions. With option ketama_points P: round(P * weight) points, each the CRC-32 of
// HOST 00 PORT and the point before it; as nginx's `hash consistent`, where P is 160.
const SchemeDefinition& perl_cache_memcached_fast_scheme();

}  // namespace slipring
