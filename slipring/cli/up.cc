// up | down: everything on one machine.
#include <fmt/format.h>
#include <poll.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <ostream>

#include "slipring/base/clock.h"
#include "slipring/cli/commands.h"
#include "slipring/cli/supervisor.h"
#include "slipring/cli/unix_socket.h"

namespace slipring::cli {
namespace {

constexpr int64_t kDownMs = 180'000;

struct UpCommand {
  Config config;
  std::string config_file;
};

// Options that were given on the command line win over the file.
Result<Config> merge(const CLI::App& command, const UpCommand& given) {
  Config config;
  if (!given.config_file.empty()) {
    SLIPRING_ASSIGN(config, load_config(given.config_file));
  }
  if (!config.controller.seed.empty()) {
    return fail(Code::kInvalidArgument,
                fmt::format("{}: `up` makes its own pool; for servers that run already start `slipring "
                            "controller` and `slipring router` with this file",
                            given.config_file));
  }
  const UpOptions& o = given.config.up;
  if (command.count("--nodes") > 0) config.up.nodes = o.nodes;
  if (command.count("--routers") > 0) config.up.routers = o.routers;
  if (command.count("--dir") > 0) config.up.dir = o.dir;
  if (command.count("--listen") > 0) config.up.listen = o.listen;
  if (command.count("--api") > 0) config.up.api = o.api;
  if (command.count("--fsync") > 0) config.up.fsync = o.fsync;
  return config;
}

Exit report_up(Context& context, const Error& error, const std::string& dir) {
  if (error.code == Code::kFailedPrecondition) {
    return report(
        context, error,
        fmt::format("`slipring down --dir {}` ends it; another --dir, --listen and --api runs beside it", dir));
  }
  return report(context, error);
}

Exit run_up(Context& context, const CLI::App& command, const UpCommand& given) {
  auto config = merge(command, given);
  if (!config) return report(context, config.error());
  for (uint32_t i = 1; i <= config->up.routers; ++i) {
    if (const auto listen = router_listen(config->up, i); !listen) return report(context, listen.error());
  }
  auto layout = UpLayout::open(config->up.dir);
  if (!layout) return report_up(context, layout.error(), config->up.dir);
  const std::string dir = config->up.dir;
  Supervisor supervisor(context, std::move(*config), std::move(*layout));
  const auto exit = supervisor.run();
  return exit ? *exit : report_up(context, exit.error(), dir);
}

// Asks the `up` that runs to end; without one ends what it has left.
Result<Exit> end_all(Context& context, const std::string& dir) {
  if (!std::filesystem::exists(dir + "/up.lock"))
    return fail(Code::kNotFound, fmt::format("{}: nothing was started here", dir));
  SLIPRING_ASSIGN(const UpLayout layout, UpLayout::open(dir));
  const auto asked = ask_supervisor(layout.path("up.sock"), "down", kDownMs);
  const SystemClock clock;
  const MonoTime until = clock.now() + Millis(asked ? kDownMs : 0);
  for (;;) {
    const auto lock = UpLock::take(layout);
    if (lock) {
      end_all_children(layout, context.console.err);
      return Exit::kDone;
    }
    if (clock.now() >= until) return fail(lock.error());
    ::poll(nullptr, 0, 50);
  }
}

}  // namespace

void add_up(CLI::App& root, Context& context) {
  CLI::App* command =
      add_command(root, "up", "Run controller, routers and store servers on this machine",
                  "slipring up --nodes 3 --routers 2\n\nRuns until Ctrl-C or `slipring down`; data, ports and "
                  "passwords are kept under --dir.");
  const auto given = std::make_shared<UpCommand>();
  UpOptions& o = given->config.up;
  command->add_option("--nodes", o.nodes, "store servers of the first start")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  command->add_option("--routers", o.routers, "router processes; router i listens on port + i - 1")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  command->add_option("--dir", o.dir, "data, logs and secrets")->capture_default_str();
  command->add_option("--listen", o.listen, "where clients connect")->capture_default_str();
  command->add_option("--api", o.api, "where the controller's API listens; loopback only")->capture_default_str();
  command->add_option("--fsync", o.fsync, "appendfsync of the store servers; everysec can lose the last second")
      ->check(CLI::IsMember({"everysec", "always", "no"}))
      ->capture_default_str();
  command->add_option("--config", given->config_file, "TOML file with [up], [move] and [router]");
  add_json_option(*command, context);
  add_log_level_option(*command);
  on_run(*command, context, [&context, command, given] { return run_up(context, *command, *given); });
}

void add_down(CLI::App& root, Context& context) {
  CLI::App* command = add_command(root, "down", "End what `slipring up` runs, in an order that loses nothing",
                                  "slipring down --dir ./slipring-data");
  const auto dir = std::make_shared<std::string>(UpOptions().dir);
  command->add_option("--dir", *dir, "directory of the `up`")->capture_default_str();
  add_json_option(*command, context);
  on_run(*command, context, [&context, dir] {
    const auto exit = end_all(context, *dir);
    if (!exit)
      return report(context, exit.error(), exit.error().code == Code::kNotFound ? "name its directory with --dir" : "");
    context.console.out << (context.json ? "{}\n" : "everything has ended; the data is kept\n");
    return *exit;
  });
}

}  // namespace slipring::cli
