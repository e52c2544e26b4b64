#include "slipring/cli/command.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <climits>
#include <iostream>
#include <nlohmann/json.hpp>

#include "slipring/base/log.h"
#include "slipring/cli/commands.h"

namespace slipring::cli {
namespace {

constexpr const char* kDefaultApi = "127.0.0.1:7400";

std::string own_path(const char* argv0) {
  char path[PATH_MAX];
  const ssize_t n = readlink("/proc/self/exe", path, sizeof path);
  return n > 0 ? std::string(path, static_cast<size_t>(n)) : std::string(argv0);
}

// The deepest command that the parse reached: its help is the one that helps.
const CLI::App* deepest(const CLI::App& app) {
  const CLI::App* at = &app;
  while (!at->get_subcommands().empty()) at = at->get_subcommands().front();
  return at;
}

std::string full_name(const CLI::App* app) {
  std::string name = app->get_name();
  for (const CLI::App* up = app->get_parent(); up != nullptr; up = up->get_parent()) name = up->get_name() + " " + name;
  return name;
}

void set_up(CLI::App& root, Context& context) {
  root.name("slipring");
  root.require_subcommand(0, 1);
  root.get_formatter()->column_width(34);
  add_all_commands(root, context);
}

}  // namespace

CLI::App* add_command(CLI::App& parent, const std::string& name, const std::string& what, const std::string& example) {
  CLI::App* command = parent.add_subcommand(name, what);
  command->footer("Example:\n  " + example);
  return command;
}

CLI::App* add_group(CLI::App& parent, const std::string& name, const std::string& what) {
  CLI::App* group = parent.add_subcommand(name, what);
  group->require_subcommand(0, 1);
  return group;
}

void on_run(CLI::App& command, Context& context, std::function<Exit()> run) {
  command.callback([&command, &context, run = std::move(run)] {
    // A command that holds others is called after the one that was chosen.
    if (command.get_subcommands().empty()) context.run = run;
  });
}

void add_json_option(CLI::App& command, Context& context) {
  command.add_flag("--json", context.json, "print one JSON document");
}

void add_log_level_option(CLI::App& command) {
  command
      .add_option_function<std::string>(
          "--log-level", [](const std::string& text) { set_log_level(*parse_log_level(text)); },
          "debug, info, warn, error or off")
      ->check([](const std::string& text) {
        const auto level = parse_log_level(text);
        return level ? std::string() : level.error().message;
      });
}

void add_api_options(CLI::App& command, Context& context, ApiOptions& options) {
  options.api = kDefaultApi;
  command.add_option("--api", options.api, "address of the controller's API")
      ->envname("SLIPRING_API")
      ->capture_default_str();
  command.add_option("--api-token-file", options.token_file, "file (mode 0600) with the API's bearer token")
      ->envname("SLIPRING_API_TOKEN_FILE");
  command.add_option("--pool", options.pool, "pool to work on; may be left out while there is only one");
  add_json_option(command, context);
  add_log_level_option(command);
}

void add_confirm_options(CLI::App& command, ConfirmOptions& options) {
  command.add_flag("--yes,-y", options.yes, "start without asking");
  command.add_flag("--dry-run", options.dry_run, "print the plan and change nothing");
  command.add_flag("--detach", options.detach, "start the plan and return at once");
}

Exit exit_of(Code code) {
  switch (code) {
    case Code::kInvalidArgument:
    case Code::kOutOfRange:
      return Exit::kUsage;
    case Code::kFailedPrecondition:
    case Code::kAlreadyExists:
    case Code::kResourceExhausted:
      return Exit::kRefused;
    case Code::kUnavailable:
    case Code::kDeadlineExceeded:
      return Exit::kUnreachable;
    case Code::kDataLoss:
      return Exit::kVerification;
    case Code::kCancelled:
      return Exit::kStopped;
    default:
      return Exit::kOther;
  }
}

Exit report(Context& context, const Error& error, std::string_view next_step) {
  context.console.err << "slipring: " << error.message << "\n";
  if (!next_step.empty()) context.console.err << "  next: " << next_step << "\n";
  const Exit exit = exit_of(error.code);
  if (context.json) {
    nlohmann::json body{{"code", code_name(error.code)}, {"message", error.message}, {"exit", static_cast<int>(exit)}};
    if (!next_step.empty()) body["next"] = next_step;
    // An error may quote bytes of an operator's input that are not UTF-8.
    context.console.out << nlohmann::json{{"error", body}}.dump(-1, ' ', false,
                                                                nlohmann::json::error_handler_t::replace)
                        << "\n";
  }
  return exit;
}

bool confirm(Context& context, std::string_view question) {
  if (!context.console.in_is_terminal) {
    context.console.err << "slipring: not started: there is no terminal to ask on\n  next: add --yes\n";
    return false;
  }
  context.console.out << question << " [y/N] " << std::flush;
  std::string answer;
  std::getline(context.console.in, answer);
  return answer == "y" || answer == "yes" || answer == "Y";
}

int run_program(int argc, const char* const* argv, Console console) {
  Context context{console, argc > 0 ? own_path(argv[0]) : std::string(), false, {}};
  CLI::App root("Slipring turns the hash ring under Redis and Valkey servers while requests go on");
  set_up(root, context);
  try {
    root.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    console.out << root.help();
    return static_cast<int>(Exit::kDone);
  } catch (const CLI::ParseError& e) {
    // The parse may have failed before it came to --json.
    context.json = context.json || std::find(argv, argv + argc, std::string_view("--json")) != argv + argc;
    return static_cast<int>(report(context, {Code::kInvalidArgument, e.what()}, full_name(deepest(root)) + " --help"));
  }
  if (!context.run) {
    const std::string group = full_name(deepest(root));
    return static_cast<int>(
        report(context, {Code::kInvalidArgument, group + ": a command is missing"}, group + " --help"));
  }
  const Exit exit = context.run();
  console.out.flush();
  return static_cast<int>(exit);
}

}  // namespace slipring::cli
