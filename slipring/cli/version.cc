#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <ostream>

#include "slipring/cli/commands.h"

namespace slipring::cli {

void add_version(CLI::App& root, Context& context) {
  CLI::App* command = add_command(root, "version", "Print the program's version", "slipring version --json");
  add_json_option(*command, context);
  on_run(*command, context, [&context] {
    if (context.json) {
      context.console.out << nlohmann::json{{"version", SLIPRING_VERSION}}.dump() << "\n";
    } else {
      context.console.out << "slipring " SLIPRING_VERSION "\n";
    }
    return Exit::kDone;
  });
}

}  // namespace slipring::cli
