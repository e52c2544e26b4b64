#include "slipring/coordination/record_leases.h"

#include <fmt/format.h>

#include "slipring/base/bytes.h"

namespace slipring {
namespace {

// Losing a compare-and-set means that another contender made progress; more losses than this in one call mean a storm.
constexpr int kTriesMax = 32;
constexpr uint8_t kFormat = 1;

std::string encode(const Lease& lease) {
  ByteWriter out;
  out.u8(kFormat);
  out.str(lease.holder);
  out.u64(lease.term);
  out.i64(lease.expires_at_ms);
  return out.take();
}

Result<Lease> decode(const Record& record) {
  ByteReader in(record.value);
  if (in.u8() != kFormat) in.mark_bad();
  Lease lease;
  lease.holder = std::string(in.str(kLeaseNameBytesMax));
  lease.term = in.u64();
  lease.expires_at_ms = in.i64();
  lease.revision = record.revision;
  if (!in.done()) return fail(Code::kDataLoss, fmt::format("record {}: no lease", record.key));
  return lease;
}

Status check_name(std::string_view what, std::string_view name) {
  if (!name.empty() && name.size() <= kLeaseNameBytesMax) return {};
  return fail(Code::kInvalidArgument,
              fmt::format("{} of {} bytes: must have 1 to {}", what, name.size(), kLeaseNameBytesMax));
}

Status check_ttl(Millis ttl) {
  if (ttl >= Millis(1) && ttl <= kLeaseTtlMax) return {};
  return fail(Code::kInvalidArgument,
              fmt::format("lease of {} ms: must be 1 to {}", ttl.count(), Millis(kLeaseTtlMax).count()));
}

// Runs `attempt` until it does not lose a compare-and-set.
template <typename Attempt>
auto until_settled(Attempt attempt) {
  auto result = attempt();
  for (int i = 1; i < kTriesMax && !result && result.error().code == Code::kAborted; ++i) result = attempt();
  return result;
}

}  // namespace

Result<uint64_t> RecordLeases::commit(const Transaction& transaction) {
  SLIPRING_TRY(check_transaction(transaction));
  return commit_records(transaction);
}

bool RecordLeases::is_held(const Lease& lease) const {
  return !lease.holder.empty() && lease.expires_at_ms > clock_.wall_ms();
}

bool RecordLeases::is_held_by(const Lease& lease, const Lease& held) const {
  return is_held(lease) && lease.holder == held.holder && lease.term == held.term;
}

Result<Lease> RecordLeases::load(std::string_view name) {
  SLIPRING_TRY(check_name("lease name", name));
  SLIPRING_ASSIGN(const std::optional<Record> record, get(lease_record_key(name)));
  if (!record) return Lease{};
  return decode(*record);
}

Result<Lease> RecordLeases::store(std::string_view name, Lease lease) {
  const std::string key = lease_record_key(name);
  SLIPRING_ASSIGN(lease.revision, commit_records({{{key, lease.revision}}, {{key, encode(lease)}}}));
  return lease;
}

Result<Lease> RecordLeases::acquire_lease(std::string_view name, std::string_view holder, Millis ttl) {
  SLIPRING_TRY(check_name("lease holder", holder));
  SLIPRING_TRY(check_ttl(ttl));
  return until_settled([&]() -> Result<Lease> {
    SLIPRING_ASSIGN(Lease lease, load(name));
    const int64_t now_ms = clock_.wall_ms();
    if (is_held(lease) && lease.holder != holder) {
      return fail(Code::kFailedPrecondition,
                  fmt::format("lease {}: held by {} for {} ms more", name, lease.holder, lease.expires_at_ms - now_ms));
    }
    if (!is_held(lease)) ++lease.term;
    lease.holder = holder;
    lease.expires_at_ms = now_ms + ttl.count();
    return store(name, std::move(lease));
  });
}

Result<Lease> RecordLeases::renew_lease(std::string_view name, const Lease& held, Millis ttl) {
  SLIPRING_TRY(check_ttl(ttl));
  return until_settled([&]() -> Result<Lease> {
    SLIPRING_ASSIGN(Lease lease, load(name));
    if (!is_held_by(lease, held)) {
      return fail(Code::kAborted,
                  fmt::format("lease {}: no longer held by {} in term {}", name, held.holder, held.term));
    }
    lease.expires_at_ms = clock_.wall_ms() + ttl.count();
    return store(name, std::move(lease));
  });
}

Status RecordLeases::release_lease(std::string_view name, const Lease& held) {
  return until_settled([&]() -> Status {
    SLIPRING_ASSIGN(Lease lease, load(name));
    if (!is_held_by(lease, held)) return {};
    lease.holder.clear();
    SLIPRING_TRY(store(name, std::move(lease)));
    return {};
  });
}

Result<std::optional<Lease>> RecordLeases::read_lease(std::string_view name) {
  SLIPRING_ASSIGN(Lease lease, load(name));
  if (!is_held(lease)) return std::nullopt;
  return lease;
}

}  // namespace slipring
