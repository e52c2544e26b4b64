// The options by which commands take a placement without any server: --scheme, --opt, --nodes.
// Thread-safety: values.
#pragma once

#include <string>
#include <vector>

#include "slipring/base/result.h"
#include "slipring/placement/scheme.h"

namespace CLI {
class App;
}

namespace slipring::cli {

struct PlacementOptions {
  std::string scheme = "ring";
  std::vector<std::string> options;  // NAME=VALUE
  std::string nodes;                 // a list, or a file (node_spec.h)
};

// NODES_REQUIRED: --nodes must be given.
void add_placement_options(CLI::App& command, PlacementOptions& options, bool nodes_required);

// kInvalidArgument: not NAME=VALUE, or a name twice.
Result<SchemeSpec> read_spec(const std::string& scheme, const std::vector<std::string>& options);

}  // namespace slipring::cli
