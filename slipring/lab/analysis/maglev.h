// Connections that survive a change of backends without a connection table, by the size of the Maglev table, beside a
// ring and `hash mod n`.
// Thread-safety: pure functions.
#pragma once

#include <vector>

#include "slipring/base/result.h"
#include "slipring/lab/analysis/report.h"

namespace slipring::lab {

struct MaglevInput {
  uint64_t nodes = 10;
  std::string removed = "n2";         // the backend that leaves
  std::vector<uint64_t> table_sizes;  // primes
  uint64_t vnodes = 512;              // of the ring
  uint64_t connections = 100'000;
  uint64_t seed = 1;
};

// kInvalidArgument: a size that is no prime, an unknown node, a figure outside of its range.
Result<Report> analyse_maglev(const MaglevInput& input);

}  // namespace slipring::lab
