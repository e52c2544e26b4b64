// A MetadataStore in memory: for tests and simulation, with faults on demand. What it holds ends with it.
//
// Invariant: faults aside, the same calls give the same answers, so a simulation replays. Thread-safety: any thread.
#pragma once

#include <deque>
#include <map>
#include <mutex>

#include "slipring/coordination/record_leases.h"

namespace slipring {

class MemoryStore final : public RecordLeases {
 public:
  // REQUIRES: the clock lives as long as the store; its wall time expires leases.
  explicit MemoryStore(const Clock& clock) : RecordLeases(clock) {}

  Result<std::optional<Record>> get(std::string_view key) override;
  Result<std::vector<Record>> list(std::string_view prefix) override;

  enum class CommitFault {
    kUnavailable,        // kUnavailable, nothing written
    kUnknownNotApplied,  // kDeadlineExceeded, nothing written
    kUnknownApplied,     // kDeadlineExceeded, but if the expectations held, written
  };
  // The next commit without a fault yet, also that of a lease, has this one.
  void fail_next_commit(CommitFault fault);
  // false: every call answers kUnavailable until true again.
  void set_available(bool available);

 protected:
  Result<uint64_t> commit_records(const Transaction& transaction) override;

 private:
  struct Entry {
    std::string value;
    uint64_t revision = 0;
  };
  Result<uint64_t> apply_locked(const Transaction& transaction);

  std::mutex mutex_;
  std::map<std::string, Entry, std::less<>> records_;
  uint64_t revision_ = 0;
  std::deque<CommitFault> faults_;
  bool available_ = true;
};

}  // namespace slipring
