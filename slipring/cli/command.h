// The frame that every command of the program stands in: one file a command, each with one function
// `void add_NAME(CLI::App& root, Context& context)` that declares it and says what to run. commands.h lists them all.
//
// A command never prints to std::cout and never exits: it writes to context.console and answers an Exit, so a test runs
// it with string streams. Options live in a shared_ptr that the command's closure owns.
// Thread-safety: one thread; a parse runs at most one command.
#pragma once

#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>

#include "slipring/base/result.h"

namespace CLI {
class App;
}

namespace slipring::cli {

// The exit codes are part of the interface: scripts rely on them.
enum class Exit : int {
  kDone = 0,
  kOther = 1,
  kUsage = 2,         // the command line, or a value on it, is wrong
  kRefused = 3,       // preflight said no; nothing was changed
  kUnreachable = 4,   // the controller (or a server) did not answer
  kVerification = 5,  // both sides were compared and differ
  kStopped = 6,       // the plan stopped, was cancelled or rolled back
};

struct Console {
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
  bool in_is_terminal = false;
  bool out_is_terminal = false;
};

struct Context {
  Console console;
  std::string program;        // path of this executable, for commands that start others
  bool json = false;          // the chosen command was given --json
  std::function<Exit()> run;  // set by the parse: what the chosen command does
};

// A command with its help: a line that says what it does, and an example of its use (required: every command has one).
// Further lines of explanation may follow the example.
CLI::App* add_command(CLI::App& parent, const std::string& name, const std::string& what, const std::string& example);
// A command that only holds others: `node add`, `node list`.
CLI::App* add_group(CLI::App& parent, const std::string& name, const std::string& what);
// What the command does once its command line has been read.
void on_run(CLI::App& command, Context& context, std::function<Exit()> run);

// --json: one JSON document on standard output instead of text; errors become {"error": {...}} there.
void add_json_option(CLI::App& command, Context& context);
// --log-level: applied before the command runs.
void add_log_level_option(CLI::App& command);

// How the commands of an operator reach the controller.
struct ApiOptions {
  std::string api;         // host:port
  std::string token_file;  // bearer token, 0600; empty: none
  std::string pool;        // empty: the only one
};
// --api (environment SLIPRING_API, default 127.0.0.1:7400), --api-token-file (SLIPRING_API_TOKEN_FILE), --pool, --json,
// --log-level.
void add_api_options(CLI::App& command, Context& context, ApiOptions& options);

// How a change is confirmed and followed.
struct ConfirmOptions {
  bool yes = false;      // do not ask
  bool dry_run = false;  // print the plan, change nothing
  bool detach = false;   // start it and return
};
// --yes, --dry-run, --detach.
void add_confirm_options(CLI::App& command, ConfirmOptions& options);

// The exit code that fits an error's code.
Exit exit_of(Code code);
// Prints the error, then what to do next where there is something to say, and answers exit_of(error.code).
Exit report(Context& context, const Error& error, std::string_view next_step = {});

// Asks on the console; true only for "y" or "yes". Without a terminal the answer is no, and the text says --yes.
bool confirm(Context& context, std::string_view question);

// Parses argv and runs the chosen command. The program's whole main().
int run_program(int argc, const char* const* argv, Console console);

}  // namespace slipring::cli
