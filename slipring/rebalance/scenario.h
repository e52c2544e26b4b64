// Golden scenarios: a text file of events (lines with '>'), each followed by exactly the actions that the machine answers
// (lines with '<'). Everything else is comment. With SLIPRING_GOLDEN_UPDATE=1 in the environment the action lines are
// written anew; then they are read by a person before they are committed.
// For tests. Thread-safety: one owner.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "slipring/base/result.h"

namespace slipring::rebalance {

// Words of a line, split at blanks.
std::vector<std::string> words_of(const std::string& line);

// Runs every file of `directory` whose name starts with `prefix`. `make` builds a fresh interpreter for each: it takes an
// event's words and answers the actions as lines. The message of an error names file and line.
using Interpreter = std::function<Result<std::vector<std::string>>(const std::vector<std::string>& words)>;
Result<size_t> run_scenarios(const std::string& directory, const std::string& prefix,
                             const std::function<Interpreter()>& make);

}  // namespace slipring::rebalance
