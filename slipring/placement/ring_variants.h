// The rings that `ring` is not by default: other hashes (SHA-1 on 2^160, MD5 on 2^128, murmur3, FNV-1a, CRC-32),
// labels of tokens as text, a strict successor, a smaller space, tokens given by hand, and Dynamo's second strategy
// (equal partitions, each owned by the node of the first token at or after its end).
//
// Guarantee and disruption as `ring`; with partitions a key moves only with its whole partition.
// Source: Karger et al., STOC 1997; DeCandia et al., Dynamo, SOSP 2007, section 6.2. Thread-safety: immutable.
#pragma once

#include "slipring/placement/registry.h"

namespace slipring {

// Options of `ring` beyond vnodes and seed, and the attribute `tokens` of its members.
std::vector<ParameterInfo> ring_variant_options();
std::vector<ParameterInfo> ring_variant_attributes();

// Whether the options or attributes ask for anything but the native ring.
bool is_ring_variant(const SchemeInput& input);

// kInvalidArgument: a label without {i}, tokens outside the space or with a member that has none, options that do not
// go with the hash.
Result<std::unique_ptr<const Scheme>> make_ring_variant(const SchemeInput& input);

}  // namespace slipring
