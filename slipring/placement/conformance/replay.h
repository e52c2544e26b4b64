// Replays vector files: key -> owner answers that other systems gave, against the schemes that reproduce them, through
// the public make_scheme(). Used by `slipring check-vectors` and by the tests.
//
// Invariant: an answer is counted once and either agrees or differs; a line that cannot be understood is an error,
// never skipped. Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <string_view>

#include "slipring/base/result.h"

namespace slipring::conformance {

struct Difference {
  uint64_t line = 0;  // from 1
  std::string system;
  std::string key;  // printable; other bytes as \xNN
  std::string expected;
  std::string actual;
};

struct Tally {
  uint64_t lines = 0;
  uint64_t answers = 0;
  uint64_t differing = 0;
  std::optional<Difference> first_difference;

  void add(const Tally& other);
};

// One line. kInvalidArgument if it is malformed, of an unknown system, or refused by the scheme.
Result<Tally> replay_line(std::string_view json, uint64_t line_number);

// All lines of `in`; empty lines are skipped. Only every `step`-th line is replayed (1: all).
// Errors carry "line N: ". Cost: as building the schemes and looking up all keys.
Result<Tally> replay_stream(std::istream& in, uint64_t step = 1);

// "twemproxy line 3: key "user:7": recorded 2, here 4".
std::string describe(const Difference& difference);

// Longest line that is read.
inline constexpr size_t kLineBytesMax = size_t{64} << 20;

}  // namespace slipring::conformance
