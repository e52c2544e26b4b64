// Rings for statistics: the tokens of the native ring (ring.h) for many seeds in a row, sorted in linear time. Where
// two rings are compared, one circle holds the tokens of both and a token j of a node belongs to a ring if the node has
// more than j tokens there, so a change costs one sort.
//
// Invariant: after build() the tokens rise; equal ones stand in the order of their nodes.
// Thread-safety: one owner. Cost: about 16 bytes and 20 ns a token (optimised).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "slipring/placement/ring_tokens.h"

namespace slipring::lab {

// Tokens a node, by node.
using VnodeCounts = std::vector<uint32_t>;

class Circle {
 public:
  struct Entry {
    uint64_t token;
    uint32_t node;
    uint32_t vnode;  // j
  };

  // Nodes are called n1, n2, ...
  explicit Circle(VnodeCounts counts);
  void build(uint64_t seed);

  std::span<const Entry> entries() const { return entries_; }
  size_t nodes() const { return counts_.size(); }
  const VnodeCounts& counts() const { return counts_; }

 private:
  VnodeCounts counts_;
  std::vector<TokenBytes> labels_;
  std::vector<Entry> unsorted_;
  std::vector<Entry> entries_;
  std::vector<uint32_t> begins_;  // of the equal parts of the space by which they are sorted
};

// Who owns which share of the space, of the ring that `counts` takes from the circle. REQUIRES: some count > 0.
std::vector<double> shares_of(const Circle& circle, const VnodeCounts& counts);

// The share of the space whose owner differs between the two rings.
double moved_share(const Circle& circle, const VnodeCounts& before, const VnodeCounts& after);

// On how many other nodes the load of `node` falls when it is removed. REQUIRES: another node has tokens.
size_t takers_of(const Circle& circle, const VnodeCounts& counts, uint32_t node);

}  // namespace slipring::lab
