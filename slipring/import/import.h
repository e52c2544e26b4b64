// The configuration of another system as a Slipring pool that owns every key where that system put it: scheme, hash,
// hash tag, weights, order and labels. Text in, pool and notes out; nothing is read, asked or written.
//
// Invariant: an Imported holds a pool that validate() accepts, and whatever stood in the text and is not in the pool is
// a note with its line, or made the import fail: nothing is dropped in silence. Thread-safety: pure functions.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "slipring/base/result.h"
#include "slipring/topology/snapshot.h"

namespace slipring::import {

inline constexpr size_t kTextBytesMax = 4u << 20;
inline constexpr size_t kNotesMax = 1000;  // further ones are counted

// What the imported system speaks to its servers.
enum class Protocol { kUnknown, kRedis, kMemcached, kHttp, kCassandra };

struct Options {
  std::string pool;  // which pool, backend, upstream or cluster of the text; empty: the only one
  std::string name;  // of the Slipring pool; empty: that of the imported one
  std::optional<PoolKind> kind;
  Protocol protocol = Protocol::kUnknown;  // for formats that do not say it
};

// What was not carried over, or was taken for something; line and column count from 1, 0: the text as a whole.
struct Note {
  size_t line = 0;
  size_t column = 0;
  std::string text;

  bool operator==(const Note&) const = default;
};

struct Imported {
  Pool pool;
  Protocol protocol = Protocol::kUnknown;
  std::vector<std::string> old_names;  // by node: what the imported system calls it
  std::vector<Note> notes;             // by line
};

struct Format {
  std::string_view name;
  std::string_view what;
};
// Every format, in the order of the help text.
std::span<const Format> formats();

// `file` is what errors call the text. kInvalidArgument: unknown format; a text that is not of it, as
// `FILE:LINE:COLUMN: reason`; several pools and none chosen. kFailedPrecondition: understood, but cannot be carried
// over without moving keys; the message says what and where.
Result<Imported> import_pool(std::string_view format, std::string_view text, std::string_view file,
                             const Options& options);

// The pool as configuration, the notes as comments above it.
std::string to_toml(const Imported& imported, std::string_view format);

}  // namespace slipring::import
