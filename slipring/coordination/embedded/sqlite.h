// SQLite's handles as owned values and its error codes as ours: the only file besides embedded_store.cc that knows it.
//
// Invariant: a statement is finalized before its database closes. Thread-safety: one owner at a time.
#pragma once

#include <sqlite3.h>

#include <memory>
#include <string>
#include <string_view>

#include "slipring/base/result.h"

namespace slipring::sqlite {

struct Close {
  void operator()(sqlite3* db) const { sqlite3_close(db); }
};
using Database = std::unique_ptr<sqlite3, Close>;

// `code` of SQLite as an error of ours: kDataLoss for damage, kUnavailable for locks, space, rights and devices.
tl::unexpected<Error> error(const std::string& path, int code, std::string_view detail);

// Runs statements that answer no rows.
Status execute(sqlite3* db, const std::string& path, const char* sql);

class Statement {
 public:
  static Result<Statement> prepare(sqlite3* db, const std::string& path, const char* sql);

  // Parameters count from 1. The bytes must live until the statement ends.
  void bind_blob(int index, std::string_view bytes);
  void bind_int(int index, int64_t value);
  // true: a row is there; false: done.
  Result<bool> step();
  // Columns count from 0. A view lives until the next step.
  std::string_view blob(int column) const;
  int64_t integer(int column) const;

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  Statement(sqlite3_stmt* statement, const std::string& path) : statement_(statement), path_(&path) {}

  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  const std::string* path_;
};

}  // namespace slipring::sqlite
