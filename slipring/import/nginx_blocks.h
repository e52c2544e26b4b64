// nginx's configuration as directives and blocks. A directive is words up to ';' or '{'; words may be quoted or hold
// escaped bytes; # begins a comment.
//
// Invariant: a directive has at least one word; at most kNginxDirectivesMax, kNginxDepthMax deep. Thread-safety: pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "slipring/import/draft.h"

namespace slipring::import {

inline constexpr size_t kNginxDirectivesMax = 100'000;
inline constexpr size_t kNginxDepthMax = 32;

struct NginxDirective {
  Mark at;
  std::vector<std::string> words;
  bool is_block = false;
  std::vector<NginxDirective> children;
};

// kInvalidArgument: a quote or block that is not closed, a ';', '{' or '}' where none may stand.
Result<std::vector<NginxDirective>> parse_nginx(std::string_view text, const Draft& draft);

}  // namespace slipring::import
