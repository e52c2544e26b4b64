// Runs the program in a test as `slipring ARGUMENTS...` and keeps what it printed.
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "slipring/cli/command.h"

namespace slipring::cli {

struct Ran {
  int exit = 0;
  std::string out;
  std::string err;
};

inline Ran run(std::vector<std::string> arguments, const std::string& input = "", bool terminal = false) {
  arguments.insert(arguments.begin(), "slipring");
  std::vector<const char*> argv;
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  std::istringstream in(input);
  std::ostringstream out;
  std::ostringstream err;
  const int exit = run_program(static_cast<int>(argv.size()), argv.data(), {in, out, err, terminal, terminal});
  return {exit, out.str(), err.str()};
}

}  // namespace slipring::cli
