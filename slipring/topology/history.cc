#include "slipring/topology/history.h"

#include <fmt/format.h>

#include "slipring/base/check.h"

namespace slipring {

History::History(size_t limit) : limit_(limit) {
  SLIPRING_CHECK(limit >= 1, "a history keeps the latest epoch");
}

Status History::push(std::shared_ptr<const Snapshot> snapshot) {
  if (!kept_.empty() && snapshot->epoch != next(kept_.back()->epoch)) {
    return fail(Code::kFailedPrecondition, fmt::format("epoch {}: the latest is {}, the next one is due",
                                                       to_u64(snapshot->epoch), to_u64(kept_.back()->epoch)));
  }
  kept_.push_back(std::move(snapshot));
  if (kept_.size() > limit_) kept_.pop_front();
  return {};
}

std::shared_ptr<const Snapshot> History::latest() const {
  return kept_.empty() ? nullptr : kept_.back();
}

std::shared_ptr<const Snapshot> History::at(Epoch epoch) const {
  if (kept_.empty() || epoch < kept_.front()->epoch || epoch > kept_.back()->epoch) return nullptr;
  return kept_[to_u64(epoch) - to_u64(kept_.front()->epoch)];
}

Result<std::vector<Edit>> History::changes(Epoch from, Epoch to) const {
  const auto before = at(from);
  const auto after = at(to);
  if (before != nullptr && after != nullptr) return diff(*before, *after);
  if (kept_.empty()) return fail(Code::kNotFound, "no epoch was published yet");
  return fail(Code::kNotFound,
              fmt::format("epoch {}: only epochs {} to {} are kept", to_u64(before == nullptr ? from : to),
                          to_u64(kept_.front()->epoch), to_u64(kept_.back()->epoch)));
}

}  // namespace slipring
