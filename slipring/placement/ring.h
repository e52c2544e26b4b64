// ring: the native scheme, fixed for ever. A 64-bit circle; the point of a key is XXH3-64(hash tag or key, seed); token
// j of a node is XXH3-64(label || 0x00 || u32le(j), seed). The owner is the node of the first token >= the point,
// wrapping; a range is (previous token, token]. Of equal tokens the bytewise smaller label owns, the other stays in the
// list. The tag rule is Redis Cluster's.
//
// A node has (vnodes * weight_milli + 500) / 1000 tokens, at least 1 above weight 0. So a change of weight adds or
// removes only its last tokens, and keys move only to or from that node.
// Guarantee: adding a node takes its share from the others and moves nothing else; removing gives its share away.
// Shares have a standard deviation of sqrt((n - 1) / (n * vnodes + 1)): 4.4 % with 512 vnodes.
// Cost: O(1) expected, O(log n) for skewed tokens; 16 bytes a token. Source: Karger et al., STOC 1997.
// Options give other hashes, labels, successor rules, explicit tokens and equal partitions (ring_variants.h).
#pragma once

#include "slipring/placement/registry.h"

namespace slipring {

inline constexpr uint64_t kTokensMax = 16'777'216;  // of one pool
inline constexpr uint64_t kVnodesFair = 32;         // fewer are unfair: operators are warned

const SchemeDefinition& ring_scheme();

// Tokens of a node: rounded to the nearest, at least 1 above weight 0.
constexpr uint64_t vnode_count(uint64_t vnodes, int64_t weight_milli) {
  if (weight_milli <= 0) return 0;
  const uint64_t count = (vnodes * static_cast<uint64_t>(weight_milli) + 500) / 1000;
  return count == 0 ? 1 : count;
}

// Token j of a label, as the native ring has it.
uint64_t ring_token(std::string_view label, uint32_t j, uint64_t seed);
// The point of a key, as the native ring has it.
uint64_t ring_point(std::string_view key, uint64_t seed);

}  // namespace slipring
