// A MetadataStore in one SQLite file: the default for controllers on one machine. Several processes may share the file;
// each locks it for the length of one transaction only, so a process that is killed or stopped between two transactions
// holds up nobody.
//
// Invariant: what commit() acknowledged is on disk (WAL, synchronous=FULL) and survives the process and the machine.
// Every record carries a checksum: bytes changed behind SQLite's back are an error, never an answer.
// Thread-safety: any thread. Not across fork(): open a store in each process.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "slipring/coordination/record_leases.h"

struct sqlite3;

namespace slipring {

class EmbeddedStore final : public RecordLeases {
 public:
  // How long a call waits for another process's transaction before it answers kUnavailable.
  static constexpr Millis kBusyTimeout{5000};

  // Opens the file, or makes it with mode 0600; its folder must exist. Reads and checks everything in it. kDataLoss:
  // damaged, or no metadata file of Slipring; kUnimplemented: of a later Slipring; kUnavailable: the system's reason.
  // Every message starts with the file's name, and a file that is refused stays as it was.
  // REQUIRES: the clock lives as long as the store.
  static Result<std::unique_ptr<EmbeddedStore>> open(const std::string& path, const Clock& clock);

  ~EmbeddedStore() override;

  Result<std::optional<Record>> get(std::string_view key) override;
  Result<std::vector<Record>> list(std::string_view prefix) override;

 protected:
  Result<uint64_t> commit_records(const Transaction& transaction) override;

 private:
  EmbeddedStore(std::string path, sqlite3* db, const Clock& clock);

  std::mutex mutex_;
  const std::string path_;
  sqlite3* const db_;
};

}  // namespace slipring
