// Where the controller keeps what must survive and must be agreed on: epochs, plans, attempts, generations, the leader.
// A small set of records with revisions, transactions that compare before they write, and leases with terms. The same
// contract holds for memory, embedded (SQLite) and, later, etcd.
//
// Invariant: a transaction happens wholly or not at all; a record's revision rises with every write of it.
// Thread-safety: any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "slipring/base/clock.h"
#include "slipring/base/result.h"

namespace slipring {

inline constexpr size_t kRecordKeyBytesMax = 512;
inline constexpr size_t kRecordValueBytesMax = 64u << 20;
inline constexpr size_t kTransactionRecordsMax = 10'000;
inline constexpr size_t kLeaseNameBytesMax = 256;  // of the lease and of its holder
inline constexpr Millis kLeaseTtlMax = std::chrono::hours(24);

struct Record {
  std::string key;
  std::string value;
  uint64_t revision = 0;  // 0 = absent
};

// One transaction: if every `expect` holds, all writes happen; otherwise none. A key is written once at most; records
// of leases may be expected, not written. Without writes it only compares.
struct Transaction {
  struct Expect {
    std::string key;
    uint64_t revision = 0;  // 0 = the record must not exist
  };
  struct Write {
    std::string key;
    std::optional<std::string> value;  // nullopt deletes
  };
  std::vector<Expect> expects;
  std::vector<Write> writes;
};

// A lease on a name, e.g. "leader". The term rises each time the lease is taken anew and never repeats: not after a
// release, an expiry, or a restart of everything. An expired lease is held by nobody, also if nobody else took it.
struct Lease {
  std::string holder;
  uint64_t term = 0;
  int64_t expires_at_ms = 0;  // wall clock of the store
  uint64_t revision = 0;      // of the lease's record (lease_record_key(name)): put it into `expects` to fence a write
};

// The record that holds a lease, so a transaction can compare it.
std::string lease_record_key(std::string_view name);

// The limits above: kInvalidArgument with the place and the reason.
Status check_record_key(std::string_view key);
Status check_transaction(const Transaction& transaction);

class MetadataStore {
 public:
  virtual ~MetadataStore() = default;

  virtual Result<std::optional<Record>> get(std::string_view key) = 0;
  // Records whose key starts with prefix, in key order.
  virtual Result<std::vector<Record>> list(std::string_view prefix) = 0;

  // The store's revision after the commit, which is also the revision of every record written. kAborted: an expectation
  // did not hold, nothing was written. kDeadlineExceeded: outcome unknown; read back before acting. kUnavailable:
  // nothing was written. kInvalidArgument: check_transaction() refuses it.
  virtual Result<uint64_t> commit(const Transaction& transaction) = 0;

  // Takes the lease if it is free, expired or already ours (then it is renewed and keeps its term).
  // kFailedPrecondition: another holder has it; the message names it and when it expires.
  virtual Result<Lease> acquire_lease(std::string_view name, std::string_view holder, Millis ttl) = 0;
  // kAborted: the lease is no longer held by (holder, term).
  virtual Result<Lease> renew_lease(std::string_view name, const Lease& held, Millis ttl) = 0;
  // Also fine if (holder, term) does not hold it any more.
  virtual Status release_lease(std::string_view name, const Lease& held) = 0;
  // nullopt: nobody holds it.
  virtual Result<std::optional<Lease>> read_lease(std::string_view name) = 0;
};

}  // namespace slipring
