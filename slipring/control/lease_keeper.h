// The leader's lease while it is held: every write of a leader goes through commit(), which compares the lease's
// record, and renewing takes turns with it, so a renewal never makes a rightful write fail.
//
// Thread-safety: any thread.
#pragma once

#include <mutex>
#include <string>

#include "slipring/coordination/metadata_store.h"

namespace slipring::control {

class LeaseKeeper {
 public:
  LeaseKeeper(MetadataStore& store, std::string name, Lease lease)
      : store_(store), name_(std::move(name)), lease_(std::move(lease)) {}

  // As MetadataStore::commit(); kAborted also if the lease has passed to another holder.
  Result<uint64_t> commit(Transaction transaction);
  // kAborted: the lease is lost.
  Status renew(Millis ttl);
  Status release();
  // kAborted: the store says that somebody else leads, or nobody.
  Status verify();
  uint64_t term() const { return lease_.term; }

 private:
  MetadataStore& store_;
  const std::string name_;
  std::mutex mutex_;
  Lease lease_;  // its term never changes
};

}  // namespace slipring::control
