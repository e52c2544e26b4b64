// stathat: stathat/consistent, list for list.
//
// Points: CRC32, or FNV-1a for UseFnv, of decimal(i) + name (label), i below "replicas" (20); owner = first point
// STRICTLY greater than the key's hash, wrapping; of equal points the node added later owns. GetN: distinct nodes
// clockwise.
// Guarantee: ring. Cost: O(1) search, 6 bytes a point. Disruption: the node's own share. (In the Go package removing a
// node also removes points that it shared with others; this is a ring made anew.) Source: stathat/consistent 30ea17e8.
#pragma once

#include "slipring/placement/registry.h"

namespace slipring {

const SchemeDefinition& stathat_scheme();

}  // namespace slipring
