// php-memcache (pecl memcache) 4.0.5.2, key for key: strategies consistent and standard, hash functions crc32 and fnv.
//
// A member's label is host:port (11211 if none is written). consistent: 160 points for each unit of weight, the hash of
// host:port-j, looked up through 1,024 buckets, so a key's owner is one of at most 1,024. standard: 15 bits of the hash
// (0 counts as 1) modulo weighted slots.
//
// Guarantee: shares in proportion to the weights, as far as 1,024 buckets can. Cost: one hash, one table access.
// Disruption: consistent moves about 1/n of the keys when a server comes or goes, standard nearly all.
// Source: behaviour of pecl memcache 4.0.5.2 against memcached 1.6.18.
#pragma once

#include "slipring/placement/registry.h"

namespace slipring {

const SchemeDefinition& php_memcache_scheme();

}  // namespace slipring
