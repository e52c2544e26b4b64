// HAProxy's configuration as lines of words. A word ends at a blank; # begins a comment; \ takes the next byte as it is
// (\n, \r, \t and \xNN stand for bytes); '...' holds everything, "..." everything but escapes and $variables.
//
// Invariant: no line is empty. Thread-safety: pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "slipring/import/draft.h"

namespace slipring::import {

struct HaproxyLine {
  Mark at;
  std::vector<std::string> words;
};

inline constexpr size_t kHaproxyWordsMax = 256;  // of a line

// kInvalidArgument: a quote that is not closed, an escape that is none, too many words.
Result<std::vector<HaproxyLine>> split_haproxy(std::string_view text, const Draft& draft);

}  // namespace slipring::import
