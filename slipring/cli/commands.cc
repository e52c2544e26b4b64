#include "slipring/cli/commands.h"

namespace slipring::cli {

void add_all_commands(CLI::App& root, Context& context) {
  for (const auto add : {
           add_up,
           add_down,
           add_status,
           add_locate,
           add_node,
           add_plan,
           add_controller,
           add_router,
           add_topology,
           add_config,
           add_schemes,
           add_place,
           add_import,
           add_check_vectors,
           add_lab,
           add_version,
       }) {
    add(root, context);
  }
}

}  // namespace slipring::cli
