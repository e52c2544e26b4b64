// spymemcached 2.12.3 (Java), key for key: locators KETAMA and ARRAY_MOD with its hash algorithms.
//
// A member's label is host:port (11211 if none is written). What ketama hashes of a server: with key format
// SPYMEMCACHED host:port, or host/ip:port if the client was given a name, whose resolved address is then the attribute
// `ip`; with LIBMEMCACHED the host, and the port unless it is 11211. Keys are Java strings: UTF-16 for the FNV and
// native hashes.
//
// Guarantee: 160 points each, weighted by libmemcached's formula if the client was given weights (a server of weight 0
// has no points, but counts); array_mod ignores weights, 0 too.
// Cost: one hash, one ring search; about 12 bytes a point. Disruption: ketama about 1/n of the keys; array_mod nearly
// all. Source: behaviour of spymemcached 2.12.3; its KetamaNodeLocator and DefaultHashAlgorithm.
#pragma once

#include "slipring/placement/registry.h"

namespace slipring {

const SchemeDefinition& spymemcached_scheme();

}  // namespace slipring
