// Who falls after whom when a node dies and the others cannot carry its load: why one token a node is not enough.
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <vector>

#include "slipring/base/result.h"
#include "slipring/lab/analysis/report.h"

namespace slipring::lab {

struct CascadeInput {
  uint64_t nodes = 10;
  std::vector<uint64_t> vnodes = {1, 128, 512};
  double capacity = 1.3;  // of a node, by the mean load, at least 1
  std::string first;      // the node that dies; empty: the one with the largest load
  uint64_t seed = 0;
};

struct CascadeOutcome {
  double largest_before = 0;                    // load by mean
  std::vector<std::vector<std::string>> falls;  // by round; the first is the node that died
  size_t takers = 0;                            // nodes on which the first one's load fell
  size_t survivors = 0;
};

// REQUIRES: input was checked by analyse_cascade().
CascadeOutcome run_cascade(const CascadeInput& input, uint64_t vnodes);

// kInvalidArgument: fewer than two nodes, a capacity below 1, an unknown first node, too many tokens.
Result<Report> analyse_cascade(const CascadeInput& input);

}  // namespace slipring::lab
