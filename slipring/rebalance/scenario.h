// Golden scenarios: a text file of events (lines with '>'), each followed by exactly the actions that the machine
// answers (lines with '<'). Everything else is comment. With SLIPRING_GOLDEN_UPDATE=1 in the environment the action
// lines are written anew; then they are read by a person before they are committed. For tests. Thread-safety: one
// owner.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "slipring/base/result.h"

namespace slipring::rebalance {

// Words of a line, split at blanks.
std::vector<std::string> words_of(const std::string& line);

// Drives one machine: perform() says what an event does and collects the actions in `lines_`.
class ScenarioInterpreter {
 public:
  virtual ~ScenarioInterpreter() = default;
  Result<std::vector<std::string>> run(const std::vector<std::string>& words);

 protected:
  // An error: there is no such event, or it comes at a wrong time.
  virtual Status perform(const std::string& what) = 0;
  // Word i of the event, counted from its name.
  std::string word(size_t i, const std::string& otherwise) const { return i < words_.size() ? words_[i] : otherwise; }

  std::vector<std::string> words_;
  std::vector<std::string> lines_;
};

// Runs every file of `directory` whose name starts with `prefix`, each with an interpreter of its own; how many there
// were. The message of an error names file and line.
Result<size_t> run_scenarios(const std::string& directory, const std::string& prefix,
                             const std::function<std::unique_ptr<ScenarioInterpreter>()>& make);

}  // namespace slipring::rebalance
