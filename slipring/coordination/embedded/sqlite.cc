#include "slipring/coordination/embedded/sqlite.h"

#include <fmt/format.h>

namespace slipring::sqlite {
namespace {

Code code_of(int code) {
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_READONLY:
    case SQLITE_NOMEM:
    case SQLITE_PROTOCOL:
      return Code::kUnavailable;
    // Also SQLITE_ERROR: our statements fail to compile only where the tables are not ours.
    default:
      return Code::kDataLoss;
  }
}

}  // namespace

tl::unexpected<Error> error(const std::string& path, int code, std::string_view detail) {
  return fail(code_of(code), fmt::format("{}: {}", path, detail));
}

Status execute(sqlite3* db, const std::string& path, const char* sql) {
  const int code = sqlite3_exec(db, sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return error(path, code, sqlite3_errmsg(db));
  return {};
}

Result<Statement> Statement::prepare(sqlite3* db, const std::string& path, const char* sql) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v2(db, sql, -1, &statement, nullptr);
  if (code != SQLITE_OK) return error(path, code, sqlite3_errmsg(db));
  return Statement(statement, path);
}

void Statement::bind_blob(int index, std::string_view bytes) {
  // A null pointer would bind NULL, which is no empty value.
  sqlite3_bind_blob64(statement_.get(), index, bytes.empty() ? "" : bytes.data(), bytes.size(), SQLITE_STATIC);
}

void Statement::bind_int(int index, int64_t value) {
  sqlite3_bind_int64(statement_.get(), index, value);
}

Result<bool> Statement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return error(*path_, code, sqlite3_errmsg(sqlite3_db_handle(statement_.get())));
}

std::string_view Statement::blob(int column) const {
  const void* bytes = sqlite3_column_blob(statement_.get(), column);
  if (bytes == nullptr) return {};
  return {static_cast<const char*>(bytes), static_cast<size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

}  // namespace slipring::sqlite
