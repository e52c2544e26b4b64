#include "slipring/cli/placement_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "slipring/placement/registry.h"

namespace slipring::cli {

void add_placement_options(CLI::App& command, PlacementOptions& options, bool nodes_required) {
  command.add_option("--scheme", options.scheme, "the scheme")->capture_default_str();
  command.add_option("--opt", options.options, "an option of the scheme, NAME=VALUE; may be repeated")
      ->allow_extra_args(false);
  command.add_option("--nodes", options.nodes, "the nodes, or a file that holds them")->required(nodes_required);
}

Result<SchemeSpec> read_spec(const std::string& scheme, const std::vector<std::string>& options) {
  SchemeSpec spec{.name = scheme, .options = {}};
  for (const std::string& text : options) {
    SLIPRING_ASSIGN(auto option, parse_option(text));
    const std::string name = option.first;
    if (!spec.options.insert(std::move(option)).second) {
      return fail(Code::kInvalidArgument, fmt::format("option {}: given twice", name));
    }
  }
  return spec;
}

}  // namespace slipring::cli
