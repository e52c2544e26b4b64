// controller: the daemon, and its HTTP API.
#include "slipring/control/controller.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>

#include "slipring/base/log.h"
#include "slipring/cli/commands.h"
#include "slipring/cli/config.h"
#include "slipring/cli/daemon.h"
#include "slipring/cli/unix_socket.h"
#include "slipring/control/http_api.h"
#include "slipring/coordination/embedded/embedded_store.h"

namespace slipring::cli {
namespace {

Status make_dir(const std::string& dir) {
  if (::mkdir(dir.c_str(), 0700) == 0 || errno == EEXIST) return {};
  return fail(Code::kUnavailable, fmt::format("controller.dir {}: {}", dir, std::strerror(errno)));
}

Status check(const control::ControllerOptions& options, const std::string& path) {
  if (options.dir.empty()) return fail(Code::kInvalidArgument, path + ": controller.dir: is missing");
  if (options.channel_token_file.empty()) {
    return fail(Code::kInvalidArgument, path + ": controller.channel_token_file: is missing");
  }
  return {};
}

Result<Exit> serve(const control::ControllerOptions& options) {
  EndSignals signals;
  SLIPRING_TRY(make_dir(options.dir));
  const SystemClock clock;
  SLIPRING_ASSIGN(const auto store, EmbeddedStore::open(options.dir + "/metadata.db", clock));
  SupervisorClient supervisor(options.supervisor);
  control::HttpApiOptions api{options.api, "", {}};
  if (!options.api_token_file.empty()) {
    SLIPRING_ASSIGN(api.bearer_token, control::read_token_file(options.api_token_file));
  }
  SLIPRING_ASSIGN(
      const auto controller,
      control::Controller::start(options, *store, clock, options.supervisor.empty() ? nullptr : &supervisor));
  SLIPRING_ASSIGN(const auto server, control::serve_api(*controller, api));
  log(LogLevel::kInfo, "controller", "serving api={} channel={}", server->address(), controller->channel_address());
  signals.wait();
  log(LogLevel::kInfo, "controller", "ending");
  return Exit::kDone;
}

}  // namespace

void add_controller(CLI::App& root, Context& context) {
  CLI::App* command = add_command(root, "controller", "Run a controller: plans, moves, API and metrics",
                                  "slipring controller --config /etc/slipring/slipring.toml");
  const auto path = std::make_shared<std::string>();
  command->add_option("--config", *path, "TOML file with [controller] and, for the first start, [[pool]]")->required();
  add_log_level_option(*command);
  on_run(*command, context, [&context, path] {
    const auto config = load_config(*path);
    if (!config) return report(context, config.error(), "`slipring config check FILE` reads it without starting");
    if (const Status ok = check(config->controller, *path); !ok)
      return report(context, ok.error(), "docs/config.md lists the keys");
    const auto exit = serve(config->controller);
    return exit ? *exit : report(context, exit.error());
  });
}

}  // namespace slipring::cli
