// Where the keys of an analysis come from: a file, a synthetic sample, or a running Redis or Valkey server, which is
// read gently (SCAN, and MEMORY USAGE of a sample, with pauses). Thread-safety: one thread.
#pragma once

#include <cstdint>
#include <string>

#include "slipring/base/clock.h"
#include "slipring/base/result.h"
#include "slipring/cli/command.h"
#include "slipring/lab/analysis/keys.h"

namespace slipring::cli {

struct LabKeyOptions {
  std::string file;           // "-": standard input
  uint64_t sample = 100'000;  // synthetic
  std::string shape = "uniform";
  uint64_t seed = 1;
  std::string from;  // redis://HOST:PORT; empty: none
  std::string user;
  std::string password_file;
  uint64_t limit = 10'000'000;  // keys read of a server
};

// --keys, --sample, --shape, --seed, --from, --user, --password-file, --limit.
void add_lab_key_options(CLI::App& command, LabKeyOptions& options);

// kInvalidArgument: a source that cannot be read, or two of them; kUnavailable: the server does not answer. Progress of
// a server that takes long goes to the console's err, if that is a terminal's.
Result<lab::KeySet> read_lab_keys(const LabKeyOptions& options, Console& console, const Clock& clock);

}  // namespace slipring::cli
