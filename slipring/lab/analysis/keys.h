// Keys to analyse: names, sizes and how often each is asked for. Synthetic ones come from a seed; an operator's own are
// read by the caller.
// Thread-safety: values and pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "slipring/base/result.h"

namespace slipring::lab {

inline constexpr size_t kLabKeysMax = 50'000'000;

struct LabKey {
  std::string name;
  uint64_t bytes = 0;     // of its value; 0: not known
  double lookups = 1;     // in proportion to the other keys
  double stands_for = 1;  // keys of about its size whose own is not known

  double bytes_in_all() const { return static_cast<double>(bytes) * stands_for; }
};

struct KeySet {
  std::string origin;  // "1,000,000 uniform keys, seed 1"
  std::vector<LabKey> keys;
  bool has_bytes = false;

  std::vector<std::string_view> names() const;
};

enum class KeyShape : uint8_t {
  kUniform,     // random names, all asked for alike
  kSequential,  // key:0, key:1, ..., all asked for alike
  kZipf,        // key:0, key:1, ..., asked for in proportion to 1 / (i + 1)
};
std::optional<KeyShape> parse_key_shape(std::string_view name);

// The same for the same arguments on every machine. REQUIRES: count <= kLabKeysMax.
KeySet synthetic_keys(uint64_t count, KeyShape shape, uint64_t seed);

// One key a line, with its size in bytes behind a tab where it is known. kInvalidArgument: a size that is no number,
// more than kLabKeysMax keys, no key at all; the message carries the line.
Result<KeySet> parse_keys(std::string_view text, std::string_view origin);

}  // namespace slipring::lab
