#include "slipring/coordination/memory/memory_store.h"

#include <fmt/format.h>

namespace slipring {
namespace {

tl::unexpected<Error> unavailable() {
  return fail(Code::kUnavailable, "metadata store: not available");
}

}  // namespace

Result<std::optional<Record>> MemoryStore::get(std::string_view key) {
  SLIPRING_TRY(check_record_key(key));
  const std::lock_guard lock(mutex_);
  if (!available_) return unavailable();
  const auto at = records_.find(key);
  if (at == records_.end()) return std::nullopt;
  return Record{at->first, at->second.value, at->second.revision};
}

Result<std::vector<Record>> MemoryStore::list(std::string_view prefix) {
  const std::lock_guard lock(mutex_);
  if (!available_) return unavailable();
  std::vector<Record> found;
  for (auto at = records_.lower_bound(prefix); at != records_.end() && at->first.starts_with(prefix); ++at) {
    found.push_back({at->first, at->second.value, at->second.revision});
  }
  return found;
}

void MemoryStore::fail_next_commit(CommitFault fault) {
  const std::lock_guard lock(mutex_);
  faults_.push_back(fault);
}

void MemoryStore::set_available(bool available) {
  const std::lock_guard lock(mutex_);
  available_ = available;
}

Result<uint64_t> MemoryStore::commit_records(const Transaction& transaction) {
  const std::lock_guard lock(mutex_);
  if (!available_) return unavailable();
  if (faults_.empty()) return apply_locked(transaction);
  const CommitFault fault = faults_.front();
  faults_.pop_front();
  if (fault == CommitFault::kUnavailable) return unavailable();
  if (fault == CommitFault::kUnknownApplied) static_cast<void>(apply_locked(transaction));
  return fail(Code::kDeadlineExceeded, "metadata store: no answer, the outcome is unknown");
}

Result<uint64_t> MemoryStore::apply_locked(const Transaction& transaction) {
  for (const Transaction::Expect& expect : transaction.expects) {
    const auto at = records_.find(expect.key);
    const uint64_t revision = at == records_.end() ? 0 : at->second.revision;
    if (revision == expect.revision) continue;
    return fail(Code::kAborted,
                fmt::format("record {}: revision {}, expected {}", expect.key, revision, expect.revision));
  }
  if (transaction.writes.empty()) return revision_;
  ++revision_;
  for (const Transaction::Write& write : transaction.writes) {
    if (write.value) {
      records_[write.key] = {*write.value, revision_};
    } else {
      records_.erase(write.key);
    }
  }
  return revision_;
}

}  // namespace slipring
