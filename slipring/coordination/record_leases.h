// Leases kept as ordinary records and taken by compare-and-set: what stores without leases of their own (memory,
// embedded) have in common. Such a store implements get(), list() and commit_records().
//
// Invariant: the record of a lease is never deleted, so its term only rises. Expiry is judged by the given clock's wall
// time: contenders share the host. Thread-safety: any thread, if get() and commit_records() are.
#pragma once

#include "slipring/coordination/metadata_store.h"

namespace slipring {

class RecordLeases : public MetadataStore {
 public:
  Result<uint64_t> commit(const Transaction& transaction) final;
  Result<Lease> acquire_lease(std::string_view name, std::string_view holder, Millis ttl) final;
  Result<Lease> renew_lease(std::string_view name, const Lease& held, Millis ttl) final;
  Status release_lease(std::string_view name, const Lease& held) final;
  Result<std::optional<Lease>> read_lease(std::string_view name) final;

 protected:
  // REQUIRES: the clock lives as long as the store.
  explicit RecordLeases(const Clock& clock) : clock_(clock) {}

  // commit() of a checked transaction, which may write records of leases.
  virtual Result<uint64_t> commit_records(const Transaction& transaction) = 0;

 private:
  // The last lease that was written, held or not; term 0 if there never was one.
  Result<Lease> load(std::string_view name);
  // Writes `lease` over what load() saw; kAborted if another was quicker.
  Result<Lease> store(std::string_view name, Lease lease);
  bool is_held(const Lease& lease) const;
  bool is_held_by(const Lease& lease, const Lease& held) const;

  const Clock& clock_;
};

}  // namespace slipring
