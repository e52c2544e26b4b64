#include <unistd.h>

#include <csignal>
#include <iostream>

#include "slipring/cli/command.h"

int main(int argc, char** argv) {
  // A peer or a pipe that goes away is an error of the call that wrote to it, not the end of the program.
  std::signal(SIGPIPE, SIG_IGN);
  return slipring::cli::run_program(
      argc, argv, {std::cin, std::cout, std::cerr, isatty(STDIN_FILENO) == 1, isatty(STDOUT_FILENO) == 1});
}
