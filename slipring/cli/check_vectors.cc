// `slipring check-vectors`: replays recorded answers of other systems.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <istream>
#include <nlohmann/json.hpp>
#include <ostream>

#include "slipring/cli/commands.h"
#include "slipring/placement/conformance/replay.h"

namespace slipring::cli {
namespace {

using conformance::Tally;
using Json = nlohmann::ordered_json;

Result<Tally> check_file(const std::string& path, std::istream& standard_input) {
  if (path == "-") return conformance::replay_stream(standard_input);
  std::ifstream in(path, std::ios::binary);
  if (!in) return fail(Code::kInvalidArgument, "cannot be read");
  try {
    return conformance::replay_stream(in);
  } catch (const std::ios_base::failure&) {  // a directory, an I/O error
    return fail(Code::kInvalidArgument, "cannot be read");
  }
}

std::string text_of(std::string_view what, const Tally& tally) {
  std::string text = fmt::format("{}: {} answers, {} differing\n", what, tally.answers, tally.differing);
  if (tally.first_difference) text += fmt::format("  first: {}\n", conformance::describe(*tally.first_difference));
  return text;
}

Json json_of(const Tally& tally) {
  Json json = {{"lines", tally.lines}, {"answers", tally.answers}, {"differing", tally.differing}};
  if (const auto& first = tally.first_difference) {
    json["first"] = {{"system", first->system},
                     {"line", first->line},
                     {"key", first->key},
                     {"recorded", first->expected},
                     {"here", first->actual}};
  }
  return json;
}

// A file that cannot be replayed does not keep the others from being checked.
Exit check(Context& context, const std::vector<std::string>& paths) {
  Tally all;
  Exit exit = Exit::kDone;
  Json files = Json::array();
  for (const std::string& path : paths) {
    const Result<Tally> tally = check_file(path, context.console.in);
    if (!tally) {
      context.console.err << fmt::format("slipring: {}: {}\n", path, tally.error().message);
      files.push_back({{"file", path}, {"error", tally.error().message}});
      exit = exit_of(tally.error().code);
      continue;
    }
    all.add(*tally);
    files.push_back({{"file", path}});
    files.back().update(json_of(*tally));
    if (!context.json) context.console.out << text_of(path, *tally);
  }
  if (context.json) {
    Json json = json_of(all);
    json["files"] = std::move(files);
    context.console.out << json.dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
  } else {
    context.console.out << fmt::format("all: {} answers, {} differing\n", all.answers, all.differing);
  }
  return exit == Exit::kDone && all.differing > 0 ? Exit::kOther : exit;
}

}  // namespace

void add_check_vectors(CLI::App& root, Context& context) {
  CLI::App* command = add_command(
      root, "check-vectors", "Replay recorded key -> server answers of other systems and count those that differ",
      "slipring check-vectors twemproxy.jsonl nginx.jsonl\n"
      "  zstd -dc conformance/*.zst | slipring check-vectors -\n\n"
      "Each line of a file is one JSON object: system, version, algorithm, hash, servers, options, keys, owners.\n"
      "Exit code 1: some answer differs; 2: a file cannot be read, a line is malformed or of an unknown system.");
  const auto paths = std::make_shared<std::vector<std::string>>();
  command->add_option("FILE", *paths, "JSON-lines files of vectors; - reads standard input")->required();
  add_json_option(*command, context);
  on_run(*command, context, [&context, paths] { return check(context, *paths); });
}

}  // namespace slipring::cli
