// The snapshots of past epochs, the newest last, as many as the bound allows: what "epochs" lists, what a rollback is
// compared with, and what a router that was away is told about.
//
// Invariant: epochs rise without gaps; at most `limit` are kept, the oldest go first. Thread-safety: one owner.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <vector>

#include "slipring/base/result.h"
#include "slipring/topology/diff.h"
#include "slipring/topology/snapshot.h"

namespace slipring {

class History {
 public:
  // REQUIRES: limit is at least 1.
  explicit History(size_t limit);

  // kFailedPrecondition unless it is the epoch after the latest (any epoch, if empty); then nothing changes.
  Status push(std::shared_ptr<const Snapshot> snapshot);

  // nullptr when empty, or for an epoch that is not kept.
  std::shared_ptr<const Snapshot> latest() const;
  std::shared_ptr<const Snapshot> at(Epoch epoch) const;

  // kNotFound: one of the epochs is not kept; the message names those that are.
  Result<std::vector<Edit>> changes(Epoch from, Epoch to) const;

  // Oldest first.
  const std::deque<std::shared_ptr<const Snapshot>>& all() const { return kept_; }

 private:
  size_t limit_;
  std::deque<std::shared_ptr<const Snapshot>> kept_;
};

}  // namespace slipring
