// Highest score first: what all rendezvous schemes do once they have a score for every member.
// Thread-safety: pure functions.
#pragma once

#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

#include "slipring/placement/scheme.h"

namespace slipring {

// The first out.size() of `members` when sorted by better(a, b), "a goes before b", a strict order without ties;
// answers how many there are.
template <typename Better>
size_t best_first(std::vector<NodeIndex> members, std::span<NodeIndex> out, Better better) {
  const size_t count = std::min(members.size(), out.size());
  const auto middle = members.begin() + static_cast<std::ptrdiff_t>(count);
  std::partial_sort(members.begin(), middle, members.end(), better);
  std::copy(members.begin(), middle, out.begin());
  return count;
}

}  // namespace slipring
