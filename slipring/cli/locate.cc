#include <CLI/CLI.hpp>
#include <istream>
#include <ostream>

#include "slipring/cli/api.h"
#include "slipring/cli/commands.h"
#include "slipring/cli/render.h"
#include "slipring/control/api_types.h"

namespace slipring::cli {
namespace {

constexpr size_t kKeysACall = 1000;

// The keys on the command line; "-" stands for the lines of standard input.
std::vector<std::string> read_keys(const std::vector<std::string>& arguments, std::istream& in) {
  std::vector<std::string> keys;
  for (const std::string& argument : arguments) {
    if (argument != "-") {
      keys.push_back(argument);
      continue;
    }
    for (std::string line; std::getline(in, line);) keys.push_back(line);
  }
  return keys;
}

Result<std::vector<control::Location>> locate_all(control::ControllerService& service, const std::string& pool,
                                                  const std::vector<std::string>& keys) {
  std::vector<control::Location> all;
  for (size_t at = 0; at < keys.size(); at += kKeysACall) {
    const size_t end = std::min(keys.size(), at + kKeysACall);
    const std::vector<std::string> part(keys.begin() + static_cast<std::ptrdiff_t>(at),
                                        keys.begin() + static_cast<std::ptrdiff_t>(end));
    SLIPRING_ASSIGN(std::vector<control::Location> found, service.locate(pool, part));
    std::move(found.begin(), found.end(), std::back_inserter(all));
  }
  return all;
}

}  // namespace

void add_locate(CLI::App& root, Context& context) {
  CLI::App* command =
      add_command(root, "locate", "Show where keys live: owner, preference list, point, range",
                  "slipring locate user:1001 session:xyz\n  redis-cli -p 6400 ... | slipring locate - --json");
  const auto api = std::make_shared<ApiOptions>();
  const auto arguments = std::make_shared<std::vector<std::string>>();
  command->add_option("KEY", *arguments, "keys; - reads them from standard input, one a line")->required();
  add_api_options(*command, context, *api);
  on_run(*command, context, [&context, api, arguments] {
    return with_api(context, *api, [&](control::ControllerService& service) -> Result<Exit> {
      const std::vector<std::string> keys = read_keys(*arguments, context.console.in);
      SLIPRING_ASSIGN(const std::vector<control::Location> found, locate_all(service, api->pool, keys));
      context.console.out << (context.json ? encode_json(control::LocateAnswer{found}) + "\n"
                                           : render_locations(found));
      return Exit::kDone;
    });
  });
}

}  // namespace slipring::cli
