#include "slipring/coordination/metadata_store.h"

#include <fmt/format.h>

#include <unordered_set>

namespace slipring {
namespace {

constexpr std::string_view kLeasePrefix = "lease/";

}  // namespace

std::string lease_record_key(std::string_view name) {
  return std::string(kLeasePrefix).append(name);
}

Status check_record_key(std::string_view key) {
  if (!key.empty() && key.size() <= kRecordKeyBytesMax) return {};
  return fail(Code::kInvalidArgument,
              fmt::format("record key of {} bytes: must have 1 to {}", key.size(), kRecordKeyBytesMax));
}

Status check_transaction(const Transaction& transaction) {
  if (transaction.expects.size() + transaction.writes.size() > kTransactionRecordsMax) {
    return fail(Code::kInvalidArgument, fmt::format("transaction over more than {} records", kTransactionRecordsMax));
  }
  for (const Transaction::Expect& expect : transaction.expects) SLIPRING_TRY(check_record_key(expect.key));
  std::unordered_set<std::string_view> written;
  for (const Transaction::Write& write : transaction.writes) {
    SLIPRING_TRY(check_record_key(write.key));
    const auto bad = [&](std::string_view why) {
      return fail(Code::kInvalidArgument, fmt::format("record {}: {}", write.key, why));
    };
    if (write.key.starts_with(kLeasePrefix)) return bad("a lease is written by acquire, renew and release only");
    if (write.value && write.value->size() > kRecordValueBytesMax) {
      return bad(fmt::format("value of {} bytes, the most is {}", write.value->size(), kRecordValueBytesMax));
    }
    if (!written.insert(write.key).second) return bad("written twice in one transaction");
  }
  return {};
}

}  // namespace slipring
