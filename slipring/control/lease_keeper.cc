#include "slipring/control/lease_keeper.h"

#include <fmt/format.h>

#include "slipring/rebalance/plan.h"

namespace slipring::control {

Result<uint64_t> LeaseKeeper::commit(Transaction transaction) {
  const std::lock_guard lock(mutex_);
  return store_.commit(rebalance::with_lease(std::move(transaction), name_, lease_));
}

Status LeaseKeeper::renew(Millis ttl) {
  const std::lock_guard lock(mutex_);
  SLIPRING_ASSIGN(Lease renewed, store_.renew_lease(name_, lease_, ttl));
  lease_.revision = renewed.revision;
  lease_.expires_at_ms = renewed.expires_at_ms;
  return {};
}

Status LeaseKeeper::verify() {
  const std::lock_guard lock(mutex_);
  SLIPRING_ASSIGN(const std::optional<Lease> now, store_.read_lease(name_));
  if (now && now->term == lease_.term && now->holder == lease_.holder) return {};
  return fail(Code::kAborted, fmt::format("lease {}: no longer held in term {}", name_, lease_.term));
}

Status LeaseKeeper::release() {
  const std::lock_guard lock(mutex_);
  return store_.release_lease(name_, lease_);
}

}  // namespace slipring::control
