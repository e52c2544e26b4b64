#include "slipring/coordination/embedded/embedded_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "slipring/base/bytes.h"
#include "slipring/base/secret.h"
#include "slipring/coordination/embedded/sqlite.h"
#include "slipring/hash/xx.h"

namespace slipring {
namespace {

using sqlite::Database;
using sqlite::Statement;

// One table. The record with the empty key, which no caller can name, carries the store's revision.
constexpr const char* kSchema =
    "CREATE TABLE records (key BLOB PRIMARY KEY, value BLOB NOT NULL, revision INTEGER NOT NULL, "
    "checksum INTEGER NOT NULL) STRICT";
constexpr std::string_view kRevisionKey;
constexpr uint32_t kApplicationId = 0x534c5052;  // "SLPR"
constexpr uint32_t kSchemaVersion = 1;

tl::unexpected<Error> damaged(const std::string& path, std::string_view why) {
  return fail(Code::kDataLoss, fmt::format("{}: {}", path, why));
}

tl::unexpected<Error> system_error(const std::string& path, std::string_view action) {
  return fail(Code::kUnavailable, fmt::format("{}: {}: {}", path, action, std::strerror(errno)));
}

int64_t checksum(const Record& record) {
  ByteWriter out;
  out.u64(record.revision);
  out.str(record.key);
  out.raw(record.value);
  return static_cast<int64_t>(xxh3_64(out.bytes()));
}

// --- records; every statement runs inside the caller's transaction ---

Result<Record> take_row(const std::string& path, const Statement& row) {
  Record record{std::string(row.blob(0)), std::string(row.blob(1)), static_cast<uint64_t>(row.integer(2))};
  if (row.integer(3) != checksum(record)) return damaged(path, fmt::format("record \"{}\" is damaged", record.key));
  return record;
}

Result<std::optional<Record>> read_record(sqlite3* db, const std::string& path, std::string_view key) {
  SLIPRING_ASSIGN(Statement row,
                  Statement::prepare(db, path, "SELECT key, value, revision, checksum FROM records WHERE key = ?"));
  row.bind_blob(1, key);
  SLIPRING_ASSIGN(const bool found, row.step());
  if (!found) return std::nullopt;
  SLIPRING_ASSIGN(Record record, take_row(path, row));
  return record;
}

Result<uint64_t> read_revision(sqlite3* db, const std::string& path) {
  SLIPRING_ASSIGN(const auto record, read_record(db, path, kRevisionKey));
  if (!record) return damaged(path, "its revision is missing");
  return record->revision;
}

Status write_record(sqlite3* db, const std::string& path, const Record& record) {
  SLIPRING_ASSIGN(Statement put,
                  Statement::prepare(db, path,
                                     "INSERT INTO records VALUES (?1, ?2, ?3, ?4) ON CONFLICT (key) DO UPDATE SET "
                                     "value = ?2, revision = ?3, checksum = ?4"));
  put.bind_blob(1, record.key);
  put.bind_blob(2, record.value);
  put.bind_int(3, static_cast<int64_t>(record.revision));
  put.bind_int(4, checksum(record));
  SLIPRING_TRY(put.step());
  return {};
}

Status delete_record(sqlite3* db, const std::string& path, std::string_view key) {
  SLIPRING_ASSIGN(Statement remove, Statement::prepare(db, path, "DELETE FROM records WHERE key = ?"));
  remove.bind_blob(1, key);
  SLIPRING_TRY(remove.step());
  return {};
}

// --- opening ---

enum class FileState { kAbsent, kOurs };

// Looks at the file's header before SQLite does, which would write beside, and in the end into, any database.
Result<FileState> inspect(const std::string& path) {
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0 && errno == ENOENT) {
    if (::access((path + "-wal").c_str(), F_OK) != 0) return FileState::kAbsent;
    // Another process may have made both since. A log that stays without its database would be replayed into a new one.
    fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 && errno == ENOENT) return damaged(path, "missing, but its write-ahead log is there");
  }
  if (fd < 0) return system_error(path, "open");
  unsigned char header[100];
  const ssize_t n = ::read(fd, header, sizeof header);
  ::close(fd);
  if (n < 0) return system_error(path, "read");
  if (n < ssize_t{sizeof header}) return damaged(path, "no metadata file of Slipring: it is cut short");
  const auto big_endian = [&](size_t at) {
    return uint32_t{header[at]} << 24 | uint32_t{header[at + 1]} << 16 | uint32_t{header[at + 2]} << 8 | header[at + 3];
  };
  constexpr unsigned char kWalMode = 2;
  if (std::memcmp(header, "SQLite format 3", 16) != 0 || big_endian(68) != kApplicationId || header[18] != kWalMode ||
      header[19] != kWalMode) {
    return damaged(path, "no metadata file of Slipring, or its header is damaged");
  }
  if (big_endian(60) != kSchemaVersion) {
    return fail(Code::kUnimplemented,
                fmt::format("{}: schema {}, this program reads schema {}", path, big_endian(60), kSchemaVersion));
  }
  return FileState::kOurs;
}

Result<Database> open_database(const std::string& path) {
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
  Database db(raw);
  if (code != SQLITE_OK) return sqlite::error(path, code, raw != nullptr ? sqlite3_errmsg(raw) : "out of memory");
  sqlite3_extended_result_codes(raw, 1);
  sqlite3_busy_timeout(raw, static_cast<int>(EmbeddedStore::kBusyTimeout.count()));
  SLIPRING_TRY(sqlite::execute(raw, path, "PRAGMA synchronous = FULL; PRAGMA trusted_schema = OFF"));
  return db;
}

Status sync_path(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const bool ok = fd >= 0 && ::fsync(fd) == 0;
  auto error = system_error(path, "fsync");
  if (fd >= 0) ::close(fd);
  if (!ok) return error;
  return {};
}

Status fill(const std::string& path) {
  SLIPRING_ASSIGN(const Database db, open_database(path));
  const std::string setup =
      fmt::format("PRAGMA journal_mode = WAL; PRAGMA application_id = {}; PRAGMA user_version = {}", kApplicationId,
                  kSchemaVersion);
  SLIPRING_TRY(sqlite::execute(db.get(), path, setup.c_str()));
  SLIPRING_TRY(sqlite::execute(db.get(), path, kSchema));
  return write_record(db.get(), path, Record{std::string(kRevisionKey), "", 0});
}

// Builds the file beside its place and links it there whole, so nobody ever sees half a file and of several makers at
// once one wins.
Status create(const std::string& path) {
  const std::string fresh = fmt::format("{}.{}", path, random_secret());
  const int fd = ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return system_error(path, "create");
  ::close(fd);
  Status status = fill(fresh);
  if (status) status = sync_path(fresh);
  if (status && ::link(fresh.c_str(), path.c_str()) != 0 && errno != EEXIST) status = system_error(path, "create");
  for (const char* suffix : {"", "-wal", "-shm"}) ::unlink((fresh + suffix).c_str());
  if (!status) return status;
  const size_t slash = path.rfind('/');
  return sync_path(slash == std::string::npos ? "." : path.substr(0, slash + 1));
}

Status check_schema(sqlite3* db, const std::string& path) {
  SLIPRING_ASSIGN(Statement schema, Statement::prepare(db, path, "SELECT sql FROM sqlite_schema WHERE sql NOT NULL"));
  SLIPRING_ASSIGN(const bool found, schema.step());
  if (!found || schema.blob(0) != kSchema) return damaged(path, "its tables are not Slipring's");
  SLIPRING_ASSIGN(const bool more, schema.step());
  if (more) return damaged(path, "it has more tables than Slipring's");
  return {};
}

Status check_integrity(sqlite3* db, const std::string& path) {
  SLIPRING_ASSIGN(Statement check, Statement::prepare(db, path, "PRAGMA integrity_check(1)"));
  SLIPRING_TRY(check.step());
  if (check.blob(0) != "ok") return damaged(path, check.blob(0));
  return {};
}

Status check_records(sqlite3* db, const std::string& path) {
  SLIPRING_TRY(read_revision(db, path));
  SLIPRING_ASSIGN(Statement rows, Statement::prepare(db, path, "SELECT key, value, revision, checksum FROM records"));
  for (;;) {
    SLIPRING_ASSIGN(const bool found, rows.step());
    if (!found) return {};
    SLIPRING_TRY(take_row(path, rows));
  }
}

Status check_all(sqlite3* db, const std::string& path) {
  // Until the file is known to be good, closing it must not copy the log into it.
  sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  SLIPRING_TRY(check_schema(db, path));
  SLIPRING_TRY(check_integrity(db, path));
  SLIPRING_TRY(check_records(db, path));
  sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, nullptr);
  return {};
}

// --- transactions ---

// A file that was removed or replaced would take writes that no other process sees.
Status check_in_place(sqlite3* db, const std::string& path) {
  int moved = 0;
  sqlite3_file_control(db, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
  if (moved != 0) return damaged(path, "the file was removed or replaced while in use");
  return {};
}

Status check_expectations(sqlite3* db, const std::string& path, const Transaction& transaction) {
  for (const Transaction::Expect& expect : transaction.expects) {
    SLIPRING_ASSIGN(const auto record, read_record(db, path, expect.key));
    const uint64_t revision = record ? record->revision : 0;
    if (revision == expect.revision) continue;
    return fail(Code::kAborted,
                fmt::format("record {}: revision {}, expected {}", expect.key, revision, expect.revision));
  }
  return {};
}

Result<uint64_t> apply(sqlite3* db, const std::string& path, const Transaction& transaction) {
  SLIPRING_TRY(check_in_place(db, path));
  SLIPRING_TRY(check_expectations(db, path, transaction));
  SLIPRING_ASSIGN(uint64_t revision, read_revision(db, path));
  if (transaction.writes.empty()) return revision;
  ++revision;
  for (const Transaction::Write& write : transaction.writes) {
    SLIPRING_TRY(write.value ? write_record(db, path, {write.key, *write.value, revision})
                             : delete_record(db, path, write.key));
  }
  SLIPRING_TRY(write_record(db, path, {std::string(kRevisionKey), "", revision}));
  return revision;
}

void roll_back(sqlite3* db) {
  // Some errors have rolled back already; nothing is left to do then.
  if (sqlite3_get_autocommit(db) == 0) sqlite3_exec(db, "ROLLBACK", nullptr, nullptr, nullptr);
}

Status end_transaction(sqlite3* db, const std::string& path) {
  const int code = sqlite3_exec(db, "COMMIT", nullptr, nullptr, nullptr);
  if (code == SQLITE_OK) return {};
  auto error = sqlite::error(path, code, sqlite3_errmsg(db));
  roll_back(db);
  const int kind = code & 0xff;
  if (kind == SQLITE_BUSY || kind == SQLITE_FULL) return error;
  // The log may have reached the disk although SQLite could not make sure.
  return fail(Code::kDeadlineExceeded, error.value().message + " (the outcome is unknown)");
}

}  // namespace

Result<std::unique_ptr<EmbeddedStore>> EmbeddedStore::open(const std::string& path, const Clock& clock) {
  SLIPRING_ASSIGN(FileState state, inspect(path));
  if (state == FileState::kAbsent) {
    SLIPRING_TRY(create(path));
    SLIPRING_ASSIGN(state, inspect(path));
  }
  SLIPRING_ASSIGN(Database db, open_database(path));
  SLIPRING_TRY(check_all(db.get(), path));
  return std::unique_ptr<EmbeddedStore>(new EmbeddedStore(path, db.release(), clock));
}

EmbeddedStore::EmbeddedStore(std::string path, sqlite3* db, const Clock& clock)
    : RecordLeases(clock), path_(std::move(path)), db_(db) {}

EmbeddedStore::~EmbeddedStore() {
  sqlite3_close(db_);
}

Result<std::optional<Record>> EmbeddedStore::get(std::string_view key) {
  SLIPRING_TRY(check_record_key(key));
  const std::lock_guard lock(mutex_);
  SLIPRING_TRY(check_in_place(db_, path_));
  return read_record(db_, path_, key);
}

Result<std::vector<Record>> EmbeddedStore::list(std::string_view prefix) {
  const std::lock_guard lock(mutex_);
  SLIPRING_TRY(check_in_place(db_, path_));
  SLIPRING_ASSIGN(Statement rows, Statement::prepare(db_, path_,
                                                     "SELECT key, value, revision, checksum FROM records "
                                                     "WHERE key >= ? AND key > x'' ORDER BY key"));
  rows.bind_blob(1, prefix);
  std::vector<Record> found;
  for (;;) {
    SLIPRING_ASSIGN(const bool more, rows.step());
    if (!more || !rows.blob(0).starts_with(prefix)) return found;
    SLIPRING_ASSIGN(Record record, take_row(path_, rows));
    found.push_back(std::move(record));
  }
}

Result<uint64_t> EmbeddedStore::commit_records(const Transaction& transaction) {
  const std::lock_guard lock(mutex_);
  SLIPRING_TRY(sqlite::execute(db_, path_, "BEGIN IMMEDIATE"));
  auto revision = apply(db_, path_, transaction);
  if (!revision) {
    roll_back(db_);
    return revision;
  }
  SLIPRING_TRY(end_transaction(db_, path_));
  return revision;
}

}  // namespace slipring
