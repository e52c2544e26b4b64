// The hash functions behind mcrouter's pools: furc ("Ch3"), its weighted form, and weighted Ch3. Each maps a key to one
// of n numbers; n may change at the end of the range only.
//
// A stream of bits grows from the key: word 0 is MurmurHash64A(key), every further word the hash of the one before. A
// number is read from it bit by bit, every 23rd bit, and tried again (32 times) when it is too large.
// Guarantee: growing from n to n+1 moves only keys that go to the new number (weights of 1). Cost: O(log n), no memory.
// Source: facebook/mcrouter 9d7f4342, lib/fbi/hash.c, WeightedFurcHash, WeightedCh3HashFunc.
// Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace slipring {

inline constexpr uint32_t kFurcMax = 1u << 23;

// 0..n-1; 0 for n <= 1. REQUIRES: n <= kFurcMax.
uint32_t furc_hash(std::string_view key, uint32_t n);

// 0..weights.size()-1. Each weight is the probability, 0 to 1, that its number is accepted; after 32 refusals the last
// bits read decide. REQUIRES: 1 <= weights.size() <= kFurcMax.
uint32_t weighted_furc_hash(std::string_view key, std::span<const double> weights);

// As above by another way: furc over the key with a salt appended, accepted by SpookyHash of the same; after 32
// refusals the last number stays.
uint32_t weighted_ch3_hash(std::string_view key, std::span<const double> weights);

}  // namespace slipring
