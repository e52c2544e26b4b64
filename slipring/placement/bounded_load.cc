#include "slipring/placement/bounded_load.h"

#include <fmt/format.h>

#include <numeric>

#include "slipring/base/parse.h"

namespace slipring {

Result<BoundedLoad> BoundedLoad::make(std::shared_ptr<const Scheme> scheme, std::span<const Member> members,
                                      int64_t epsilon_milli) {
  if (epsilon_milli < 1 || epsilon_milli > 1'000'000) {
    return fail(Code::kInvalidArgument, fmt::format("epsilon {}: must be 0.001 to 1000", format_milli(epsilon_milli)));
  }
  if (scheme->member_count() != members.size()) {
    return fail(Code::kInvalidArgument,
                fmt::format("{} nodes given, the scheme has {}", members.size(), scheme->member_count()));
  }
  BoundedLoad made;
  made.scheme_ = std::move(scheme);
  made.epsilon_milli_ = epsilon_milli;
  for (const Member& m : members) made.weights_.push_back(m.weight_milli);
  made.weight_sum_ = std::accumulate(made.weights_.begin(), made.weights_.end(), int64_t{0});
  return made;
}

uint64_t BoundedLoad::capacity(NodeIndex i, uint64_t total) const {
  using Wide = unsigned __int128;
  const Wide share = Wide{total} * static_cast<uint64_t>(1000 + epsilon_milli_) * static_cast<uint64_t>(weights_[i]);
  const Wide whole = Wide{1000} * static_cast<uint64_t>(weight_sum_);
  return static_cast<uint64_t>((share + whole - 1) / whole);
}

NodeIndex BoundedLoad::owner(std::string_view key, std::span<const uint64_t> loads) const {
  const uint64_t total = std::accumulate(loads.begin(), loads.end(), uint64_t{1});
  std::vector<NodeIndex> list;
  size_t seen = 0;
  for (size_t length = 4; seen < weights_.size(); length *= 8) {
    list.resize(std::min(length, weights_.size()));
    const size_t filled = scheme_->preference_list(key, list);
    for (; seen < filled; ++seen) {
      if (loads[list[seen]] < capacity(list[seen], total)) return list[seen];
    }
    if (filled < list.size()) break;
  }
  return seen == 0 ? kNoNode : list[0];
}

}  // namespace slipring
