// npm ketama 1.0.0, key for key.
//
// A member's label is the node's key. A node has round(50 * weight) points, j from that count down to 1: the first four
// bytes of SHA-1(label 00 j), read as a signed big-endian number and ordered as such. Keys are hashed likewise.
// Equal points: the node added first. Lists that ask for every node go on clockwise too; the package answers those in
// insertion order, and so does npm_ketama_nodes().
//
// Guarantee: about weight/total of the points. Cost: one digest, one ring search; about 12 bytes a point.
// Disruption: only the keys of the node that comes or goes.
// Source: behaviour of ketama 1.0.0 on Node.js; its dist/index.js.
#pragma once

#include "slipring/placement/registry.h"

namespace slipring {

const SchemeDefinition& npm_ketama_scheme();

// What getNodes(key, count) answers: `count` nodes of the preference list, or, if there are no more than that, all that
// have a weight above 0 in the order they were added. REQUIRES: `scheme` is npm-ketama over `members`.
std::vector<NodeIndex> npm_ketama_nodes(const Scheme& scheme, std::span<const Member> members, std::string_view key,
                                        size_t count);

}  // namespace slipring
