// router: the daemon; router list | forget: the routers as the controller knows them.
#include "slipring/router/router.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <ostream>

#include "slipring/base/log.h"
#include "slipring/cli/api.h"
#include "slipring/cli/commands.h"
#include "slipring/cli/config.h"
#include "slipring/cli/daemon.h"
#include "slipring/cli/render.h"
#include "slipring/control/api_types.h"
#include "slipring/control/http_api.h"
#include "slipring/control/secret_file.h"

namespace slipring::cli {
namespace {

void add_router_list(CLI::App& group, Context& context) {
  CLI::App* command = add_command(group, "list", "List the routers and the epoch each is on", "slipring router list");
  const auto api = std::make_shared<ApiOptions>();
  add_api_options(*command, context, *api);
  on_run(*command, context, [&context, api] {
    return with_api(context, *api, [&](control::ControllerService& service) -> Result<Exit> {
      SLIPRING_ASSIGN(const control::ClusterStatus status, service.status());
      if (context.json) {
        const auto document = nlohmann::json::parse(encode_json(status));
        context.console.out << nlohmann::json{{"routers", document["routers"]}}.dump() << "\n";
      } else {
        context.console.out << (status.routers.empty() ? "no router has joined\n" : render_routers(status.routers));
      }
      return Exit::kDone;
    });
  });
}

void add_forget(CLI::App& group, Context& context) {
  CLI::App* command =
      add_command(group, "forget", "Forget a router that will not come back; its users are removed from every node",
                  "slipring router forget r2");
  const auto api = std::make_shared<ApiOptions>();
  const auto id = std::make_shared<std::string>();
  command->add_option("NAME", *id, "the router")->required();
  add_api_options(*command, context, *api);
  on_run(*command, context, [&context, api, id] {
    if (const Status ok = check_node_name(*id); !ok) return report(context, ok.error());
    return with_api(context, *api, [&](control::ControllerService& service) -> Result<Exit> {
      SLIPRING_TRY(service.forget_router(*id));
      context.console.out << (context.json ? "{}\n" : "router " + *id + ": forgotten\n");
      return Exit::kDone;
    });
  });
}

// ---- the daemon
// ------------------------------------------------------------------------------------------------------

Status check(const router::Options& options, const std::string& path) {
  const auto missing = [&](std::string_view key) {
    return fail(Code::kInvalidArgument, path + ": router." + std::string(key) + ": is missing");
  };
  if (options.id.empty()) return missing("id");
  if (options.listen.empty()) return missing("listen");
  if (options.controllers.empty()) return missing("controllers");
  if (options.token_file.empty()) return missing("token_file");
  return {};
}

// Read each time: nodes join and passwords change while the router runs.
Result<router::NodeLogin> login_of(const std::string& path, const std::string& address) {
  SLIPRING_ASSIGN(const auto all, control::NodeCredentials::read(path));
  const control::NodeCredential* found = all.find(address);
  if (found == nullptr) return router::NodeLogin{};
  return router::NodeLogin{found->user == "default" ? "" : found->user, found->password};
}

Result<Exit> serve(const Config& config) {
  EndSignals signals;
  router::Options options = config.router;
  if (!config.router_password_file.empty()) {
    SLIPRING_ASSIGN(options.client_password, control::read_token_file(config.router_password_file));
  }
  if (!config.router_node_credentials_file.empty()) {
    options.login_of = [path = config.router_node_credentials_file](const std::string& address) {
      return login_of(path, address);
    };
  }
  SLIPRING_ASSIGN(const auto router, router::Router::start(std::move(options)));
  log(LogLevel::kInfo, "router", "listening id={} address={}", config.router.id, config.router.listen);
  signals.wait();
  log(LogLevel::kInfo, "router", "ending: clients may finish what they have sent");
  router->drain();
  return Exit::kDone;
}

Exit run_router(Context& context, const std::string& path) {
  if (path.empty()) {
    return report(context, {Code::kInvalidArgument, "slipring router: --config FILE or a command is missing"},
                  "slipring router --help");
  }
  const auto config = load_config(path);
  if (!config) return report(context, config.error(), "`slipring config check FILE` reads it without starting");
  if (const Status ok = check(config->router, path); !ok)
    return report(context, ok.error(), "docs/config.md lists the keys");
  const auto exit = serve(*config);
  return exit ? *exit : report(context, exit.error());
}

}  // namespace

void add_router(CLI::App& root, Context& context) {
  CLI::App* group = add_group(root, "router", "Run a router, look at the routers, forget one that is gone");
  group->footer("Example:\n  slipring router --config /etc/slipring/slipring.toml");
  const auto path = std::make_shared<std::string>();
  group->add_option("--config", *path, "run a router: TOML file with [router]");
  add_log_level_option(*group);
  add_router_list(*group, context);
  add_forget(*group, context);
  on_run(*group, context, [&context, path] { return run_router(context, *path); });
}

}  // namespace slipring::cli
