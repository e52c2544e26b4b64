// Dalli 3.0.6 (Ruby), key for key.
//
// A member's label is host:port (11211 if none is written). A server has floor(n * 160 * weight / total) points, the
// first four bytes of SHA-1(host:port:j), big endian; a key's hash is its CRC-32. The owner is the nearest point at or
// BELOW the hash; below the first it is the last. A single server takes every key. A server of weight 0 has no points
// but counts in n, so the others have more than without it.
//
// Guarantee: about weight/total of 160 points each. Cost: one CRC-32, one ring search; about 12 bytes a point.
// Disruption: about 1/n of the keys when a server comes or goes.
// Source: behaviour of Dalli 3.0.6; its lib/dalli/ring.rb.
#pragma once

#include "slipring/placement/registry.h"

namespace slipring {

const SchemeDefinition& dalli_scheme();

}  // namespace slipring
