// modulo: owner = hash(key) % n, the plain client-side `% N`.
//
// Guarantee: even. Cost: one hash, one division, no memory.
// Disruption: adding or removing one of n nodes moves about n/(n+1) of the keys: here to be compared with and moved
// away from. Source: common practice.
#pragma once

#include "slipring/placement/registry.h"

namespace slipring {

const SchemeDefinition& modulo_scheme();

}  // namespace slipring
