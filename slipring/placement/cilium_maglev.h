// cilium-maglev: Cilium's Maglev table, entry for entry.
//
// Backends in the order of their hash strings (label: "[10.0.0.1:6379/TCP,State:active]"); offset and skip come from
// the two words of MurmurHash3-x64-128 seeded with the first four bytes of the base64 seed. Entry n is backend n % N's
// turn; when sum of weights / N (in integers) is above 1, backends are passed over while (n + 1) * weight < their
// counter, which starts at weight / N and rises by the sum of weights with every entry. Cilium places packets in the
// kernel; keys of other kinds have no place there: here they are placed by XXH64. Guarantee: shares near the weights.
// Cost: one hash, one table read; 4 bytes an entry. Disruption: mostly the node's own share, and a few per cent of
// other keys. Source: cilium pkg/maglev; the table printed in its unit test is reproduced.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "slipring/placement/registry.h"

namespace slipring {

struct CiliumBackend {
  std::string hash_string;
  uint32_t weight = 1;
};

// By entry, the index of the backend in `backends`. Backends of weight 0 get none. REQUIRES: some weight > 0;
// table_size is prime.
std::vector<NodeIndex> cilium_maglev_table(std::span<const CiliumBackend> backends, uint32_t table_size,
                                           uint32_t murmur_seed);

// The seed in Cilium's configuration: the first four bytes, big endian, of 12 bytes in base64. kInvalidArgument: not
// so.
Result<uint32_t> cilium_murmur_seed(std::string_view base64);

const SchemeDefinition& cilium_maglev_scheme();

}  // namespace slipring
