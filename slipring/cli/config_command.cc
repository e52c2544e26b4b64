#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <ostream>

#include "slipring/base/parse.h"
#include "slipring/cli/api.h"
#include "slipring/cli/commands.h"
#include "slipring/cli/config.h"
#include "slipring/cli/config_diff.h"
#include "slipring/cli/config_table.h"

namespace slipring::cli {
namespace {

Exit check(Context& context, const std::string& path) {
  const auto config = load_config(path);
  if (!config) return report(context, config.error());
  const size_t pools = config->controller.seed.size();
  if (context.json) {
    context.console.out << nlohmann::json{{"file", path}, {"valid", true}, {"pools", pools}}.dump() << "\n";
  } else {
    context.console.out << fmt::format("{}: valid, {} pool{}\n", path, pools, pools == 1 ? "" : "s");
  }
  return Exit::kDone;
}

void add_check(CLI::App& group, Context& context) {
  CLI::App* command = add_command(group, "check", "Read a configuration file and say what is wrong with it",
                                  "slipring config check /etc/slipring/slipring.toml");
  const auto path = std::make_shared<std::string>();
  command->add_option("FILE", *path, "the TOML file")->required();
  add_json_option(*command, context);
  on_run(*command, context, [&context, path] { return check(context, *path); });
}

void print_differences(Context& context, const std::vector<Difference>& differences) {
  if (context.json) {
    nlohmann::json list = nlohmann::json::array();
    for (const Difference& d : differences) {
      list.push_back({{"subject", d.subject},
                      {"field", d.field},
                      {"file", d.file},
                      {"running", d.running},
                      {"command", d.command}});
    }
    context.console.out << nlohmann::json{{"differences", list}}.dump() << "\n";
    return;
  }
  if (differences.empty()) context.console.out << "no difference between the file and the running topology\n";
  for (const Difference& d : differences) {
    context.console.out << fmt::format("{}: {}: file {}, running {}\n", d.subject, d.field, d.file, d.running);
    if (!d.command.empty()) context.console.out << fmt::format("  to change it: {}\n", d.command);
  }
}

void add_diff(CLI::App& group, Context& context) {
  CLI::App* command =
      add_command(group, "diff", "Show how the running topology differs from a file; nothing is changed",
                  "slipring config diff /etc/slipring/slipring.toml --api 127.0.0.1:7400");
  const auto path = std::make_shared<std::string>();
  const auto api = std::make_shared<ApiOptions>();
  command->add_option("FILE", *path, "the TOML file")->required();
  add_api_options(*command, context, *api);
  on_run(*command, context, [&context, path, api] {
    const auto config = load_config(*path);
    if (!config) return report(context, config.error());
    return with_api(context, *api, [&](control::ControllerService& service) -> Result<Exit> {
      SLIPRING_ASSIGN(const control::ClusterStatus status, service.status());
      print_differences(context, compare_config(config->controller.seed, status));
      return Exit::kDone;
    });
  });
}

void add_doc(CLI::App& group, Context& context) {
  CLI::App* command = add_command(group, "doc", "Print the documentation of every key, in Markdown",
                                  "slipring config doc > docs/config.md");
  on_run(*command, context, [&context] {
    context.console.out << config_document();
    return Exit::kDone;
  });
}

}  // namespace

void add_config(CLI::App& root, Context& context) {
  CLI::App* group = add_group(root, "config", "Check and explain the configuration file");
  add_check(*group, context);
  add_diff(*group, context);
  add_doc(*group, context);
}

}  // namespace slipring::cli
