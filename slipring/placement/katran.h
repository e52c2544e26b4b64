// katran: the Maglev tables of Katran, version 1 and 2, entry for entry.
//
// Offset and skip of a real are MurmurHash3 words of its 64-bit hash (attribute "hash"). Version 1 gives a real
// `weight` turns in the first round and one in every later round; version 2 gives a turn whenever the accumulated
// weight reaches the greatest one. offset + next * skip wraps in 32 bits. Turns go by rising hash, without reals of
// weight 0, as Katran's Vip arranges them; order=given takes the members as they stand, as the bare table functions do,
// and then version 1 gives entries to weight 0 too. Katran places packets: jhash of the five-tuple modulo the size.
// Keys of other kinds have no place there; here they are placed by XXH64. Guarantee: version 2: shares within one turn
// of the weights; version 1: nearly equal shares on large tables. Cost: one hash, one table read; 4 bytes an entry.
// Disruption: mostly the node's own share, and a few per cent of other keys. Source: facebookincubator/katran 19f08fec,
// MaglevHash, MaglevHashV2 and Vip.
#pragma once

#include <span>
#include <vector>

#include "slipring/placement/registry.h"

namespace slipring {

struct KatranReal {
  NodeIndex real = 0;  // what stands in the table
  uint64_t hash = 0;
  uint32_t weight = 1;
};

enum class KatranVersion { kMaglev, kMaglevV2 };

// By entry, its real; all kNoNode without reals (and in version 2 if all of several weights are 0). Turns go in the
// order of `reals`. REQUIRES: 2 <= table_size <= kKatranTableSizeMax.
std::vector<NodeIndex> katran_table(std::span<const KatranReal> reals, uint32_t table_size, KatranVersion version);

// Larger tables might not fill: the 32-bit product wraps, and what it meets then is no permutation.
inline constexpr uint32_t kKatranTableSizeMax = 65'537;

const SchemeDefinition& katran_scheme();

}  // namespace slipring
