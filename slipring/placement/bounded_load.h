// Bounded load over any scheme: the first node of the key's preference list whose load is below its capacity,
// ceil((1 + epsilon) * total * w_i / sum of w). Loads are an argument: what counts as load is the caller's matter.
//
// Guarantee: no node is given more than its capacity; keys spill to the next nodes of their list. For caches and for
// choosing among replicas; never for store pools, where a key has one owner.
// Source: Mirrokni, Thorup, Zadimoghaddam, arXiv 1608.01350. Thread-safety: immutable; loads are read during the call.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "slipring/placement/scheme.h"

namespace slipring {

class BoundedLoad {
 public:
  // epsilon in thousandths, 1 to 1,000,000. kInvalidArgument outside, or if the scheme has other members.
  static Result<BoundedLoad> make(std::shared_ptr<const Scheme> scheme, std::span<const Member> members,
                                  int64_t epsilon_milli);

  // Of node i when `total` are placed in all.
  uint64_t capacity(NodeIndex i, uint64_t total) const;

  // Where one more of this key goes; loads are by member. REQUIRES: loads.size() = members, their sum below 2^53.
  // kNoNode only if no member owns anything. Cost: a preference list as long as nodes are full.
  NodeIndex owner(std::string_view key, std::span<const uint64_t> loads) const;

 private:
  BoundedLoad() = default;
  std::shared_ptr<const Scheme> scheme_;
  std::vector<int64_t> weights_;
  int64_t weight_sum_ = 0;
  int64_t epsilon_milli_ = 0;
};

}  // namespace slipring
