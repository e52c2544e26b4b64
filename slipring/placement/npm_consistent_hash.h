// npm consistent-hash 1.2.2 with distribution 'uniform', key for key (its default places points at random).
//
// The n nodes take turns on a range of 100003: point j of node i lies at round(step*i + step/2 + step*n*j), with step =
// range / (points * n); the last listed of equal points has it. A key is a 24-bit PJW hash over UTF-16 units, times 32,
// modulo the range. Weights are ignored.
//
// Guarantee: equal shares of the range. Cost: one hash, one ring search; about 12 bytes a point. Disruption: nearly all
// keys move when a node comes or goes, since every point moves. Source: behaviour of consistent-hash 1.2.2 on Node.js;
// its consistent-hash.js.
#pragma once

#include "slipring/placement/registry.h"

namespace slipring {

const SchemeDefinition& npm_consistent_hash_scheme();

}  // namespace slipring
