#include <CLI/CLI.hpp>
#include <ostream>

#include "slipring/cli/api.h"
#include "slipring/cli/commands.h"
#include "slipring/cli/render.h"
#include "slipring/control/api_types.h"

namespace slipring::cli {

void add_status(CLI::App& root, Context& context) {
  CLI::App* command = add_command(root, "status", "Show epoch, nodes, routers and the running plan", "slipring status");
  const auto api = std::make_shared<ApiOptions>();
  add_api_options(*command, context, *api);
  on_run(*command, context, [&context, api] {
    return with_api(context, *api, [&](control::ControllerService& service) -> Result<Exit> {
      SLIPRING_ASSIGN(control::ClusterStatus status, service.status());
      if (!api->pool.empty()) {
        SLIPRING_ASSIGN(const control::PoolStatus* pool, choose_pool(status, api->pool));
        status.pools = {control::PoolStatus(*pool)};
      }
      context.console.out << (context.json ? encode_json(status) + "\n" : render_status(status));
      return Exit::kDone;
    });
  });
}

}  // namespace slipring::cli
