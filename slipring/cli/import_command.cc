// import: another system's configuration as a pool, and whether keys lie where it says.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <istream>
#include <nlohmann/json.hpp>
#include <ostream>

#include "slipring/cli/commands.h"
#include "slipring/cli/config.h"
#include "slipring/cli/import_live.h"
#include "slipring/cli/text.h"
#include "slipring/import/import.h"

namespace slipring::cli {
namespace {

constexpr size_t kKeyBytesMax = size_t{1} << 20;

struct ImportCommand {
  std::string format;
  std::string file;
  std::string out;
  std::string check;
  std::string kind;
  std::string protocol;
  bool verify_live = false;
  import::Options options;
  LiveOptions live;
};

Result<std::string> read_all(std::istream& in, const std::string& name) {
  std::string text(import::kTextBytesMax + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(in.gcount()));
  if (in.bad()) return fail(Code::kUnavailable, name + ": cannot be read");
  return text;
}

// "-": standard input.
Result<std::string> read_text(const std::string& path, Console& console) {
  if (path == "-") return read_all(console.in, "standard input");
  std::ifstream file(path, std::ios::binary);
  if (!file) return fail(Code::kInvalidArgument, path + ": cannot be opened");
  return read_all(file, path);
}

Status write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.flush();
  if (!file) return fail(Code::kUnavailable, path + ": cannot be written");
  return {};
}

// The pool as it will be read from its file.
Result<Pool> read_back(const std::string& toml) {
  SLIPRING_ASSIGN(const Config config, parse_config(toml, "the imported pool"));
  return config.controller.seed.front();
}

// ---- --check
// ---------------------------------------------------------------------------------------------------------

struct CheckedKey {
  std::string key;
  std::string before;
  std::string after;
};

struct CheckedKeys {
  std::vector<CheckedKey> keys;
  size_t moved = 0;
};

// The owner by the imported system's own name, and by the pool as a controller will read it.
Result<CheckedKeys> check_keys(const import::Imported& imported, const Pool& pool, std::istream& in) {
  SLIPRING_ASSIGN(const auto before, make_scheme(imported.pool.layout));
  SLIPRING_ASSIGN(const auto after, make_scheme(pool.layout));
  CheckedKeys checked;
  std::string key;
  while (std::getline(in, key)) {
    if (key.size() > kKeyBytesMax || checked.keys.size() == 10'000'000)
      return fail(Code::kInvalidArgument, "--check: a key above 1 MiB, or more than 10,000,000 keys");
    const NodeIndex was = before->owner(key);
    const NodeIndex is = after->owner(key);
    if (was != is) ++checked.moved;
    checked.keys.push_back(
        {key, was == kNoNode ? "-" : imported.old_names[was], is == kNoNode ? "-" : pool.layout.nodes[is].name});
  }
  return checked;
}

Result<CheckedKeys> check_file(const ImportCommand& command, const import::Imported& imported, const Pool& pool,
                               Console& console) {
  if (command.check == "-") return check_keys(imported, pool, console.in);
  std::ifstream file(command.check, std::ios::binary);
  if (!file) return fail(Code::kInvalidArgument, command.check + ": cannot be opened");
  return check_keys(imported, pool, file);
}

// ---- what is printed
// -------------------------------------------------------------------------------------------------

void print_notes(const import::Imported& imported, const std::string& file, std::ostream& err) {
  for (const import::Note& note : imported.notes) {
    if (note.line == 0) {
      err << fmt::format("{}: {}\n", file, note.text);
    } else {
      err << fmt::format("{}:{}:{}: {}\n", file, note.line, note.column, note.text);
    }
  }
}

nlohmann::json json_of(const import::Imported& imported, const std::string& toml) {
  nlohmann::json notes = nlohmann::json::array();
  for (const import::Note& note : imported.notes)
    notes.push_back({{"line", note.line}, {"column", note.column}, {"text", note.text}});
  nlohmann::json nodes = nlohmann::json::array();
  for (size_t i = 0; i < imported.old_names.size(); ++i) {
    const Node& node = imported.pool.layout.nodes[i];
    nodes.push_back({{"name", node.name}, {"was", imported.old_names[i]}, {"address", node.instance.address}});
  }
  return {{"pool", imported.pool.name},
          {"scheme", imported.pool.layout.scheme.name},
          {"nodes", nodes},
          {"notes", notes},
          {"toml", toml}};
}

nlohmann::json json_of(const CheckedKeys& checked) {
  nlohmann::json keys = nlohmann::json::array();
  for (const CheckedKey& key : checked.keys)
    keys.push_back({{"key", key.key}, {"was", key.before}, {"owner", key.after}});
  return {{"keys", keys}, {"moved", checked.moved}};
}

nlohmann::json json_of(const LiveReport& report) {
  nlohmann::json servers = nlohmann::json::array();
  for (const LiveServer& server : report.servers)
    servers.push_back({{"node", server.node}, {"sampled", server.sampled}, {"at_home", server.at_home}});
  return {{"sampled", report.sampled}, {"at_home", report.at_home}, {"servers", servers}, {"cause", report.cause}};
}

void print_checked(const CheckedKeys& checked, std::ostream& out) {
  for (const CheckedKey& key : checked.keys) out << fmt::format("{}\t{}\t{}\n", key.key, key.before, key.after);
}

void print_live(const LiveReport& report, std::ostream& out) {
  Table table({"NODE", ">SAMPLED", ">AT HOME"});
  for (const LiveServer& server : report.servers)
    table.add({server.node, human_count(server.sampled), human_count(server.at_home)});
  out << table.text();
  if (report.sampled == 0) {
    out << "the servers hold no key of the pool: nothing was verified\n";
    return;
  }
  out << fmt::format("{} of {} sampled keys lie where the imported scheme expects them ({})\n",
                     human_count(report.at_home), human_count(report.sampled), human_share(report.share()));
}

// ---- the command
// -----------------------------------------------------------------------------------------------------

Status read_words(ImportCommand& command) {
  if (!command.kind.empty()) command.options.kind = command.kind == "store" ? PoolKind::kStore : PoolKind::kCache;
  if (command.protocol == "redis") command.options.protocol = import::Protocol::kRedis;
  if (command.protocol == "memcached") command.options.protocol = import::Protocol::kMemcached;
  if (command.protocol == "http") command.options.protocol = import::Protocol::kHttp;
  if (!command.options.name.empty()) SLIPRING_TRY(check_node_name(command.options.name));
  if (command.file == "-" && command.check == "-")
    return fail(Code::kInvalidArgument, "--check -: the configuration is read from standard input already");
  return {};
}

Result<Exit> run(Context& context, ImportCommand& command) {
  SLIPRING_TRY(read_words(command));
  SLIPRING_ASSIGN(const std::string text, read_text(command.file, context.console));
  SLIPRING_ASSIGN(const import::Imported imported,
                  import::import_pool(command.format, text, command.file, command.options));
  const std::string toml = import::to_toml(imported, command.format);
  SLIPRING_ASSIGN(const Pool pool, read_back(toml));
  nlohmann::json answer = json_of(imported, toml);
  std::ostream& out = context.console.out;
  const bool text_out = !context.json;
  if (text_out) print_notes(imported, command.file, context.console.err);
  Exit exit = Exit::kDone;
  if (!command.check.empty()) {
    SLIPRING_ASSIGN(const CheckedKeys checked, check_file(command, imported, pool, context.console));
    if (text_out) print_checked(checked, out);
    answer["check"] = json_of(checked);
    if (checked.moved > 0) exit = Exit::kVerification;
  }
  if (command.verify_live) {
    SLIPRING_ASSIGN(const LiveReport report, verify_live(imported, pool, command.live));
    if (text_out) print_live(report, out);
    if (report.share() < kLiveShareMin) {
      return fail(Code::kFailedPrecondition,
                  fmt::format("{} of the sampled keys do not lie where the imported scheme expects them; {}",
                              human_share(1 - report.share()), report.cause));
    }
    answer["live"] = json_of(report);
  }
  if (!command.out.empty()) SLIPRING_TRY(write_file(command.out, toml));
  if (text_out && command.out.empty() && command.check.empty() && !command.verify_live) out << toml;
  if (context.json) out << answer.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
  return exit;
}

std::string explanation() {
  std::string text =
      "slipring import twemproxy nutcracker.yml --verify-live -o pool.toml\n"
      "  slipring import haproxy haproxy.cfg --pool caches --check keys.txt\n\n"
      "FORMAT is one of\n";
  for (const import::Format& format : import::formats()) text += fmt::format("  {:14} {}\n", format.name, format.what);
  return text +
         "What is not carried over is said on standard error, with its line. --check prints key TAB old owner TAB new\n"
         "owner. Exit 3: the text is right, but keys would move, or lie elsewhere. docs/takeover.md goes on from here.";
}

}  // namespace

void add_import(CLI::App& root, Context& context) {
  CLI::App* command =
      add_command(root, "import", "Turn another system's configuration into a pool that owns every key where it lies",
                  explanation());
  const auto given = std::make_shared<ImportCommand>();
  command->add_option("FORMAT", given->format, "what FILE is")->required();
  command->add_option("FILE", given->file, "the configuration; -: standard input")->required();
  command->add_option("-o,--output", given->out, "write the pool there instead of to standard output");
  command->add_option("--pool", given->options.pool, "which pool, backend, upstream or cluster of FILE");
  command->add_option("--name", given->options.name, "name of the new pool");
  command->add_option("--kind", given->kind, "kind of the new pool")->check(CLI::IsMember({"store", "cache"}));
  command->add_option("--protocol", given->protocol, "what the servers speak, where FILE does not say it")
      ->check(CLI::IsMember({"redis", "memcached", "http"}));
  command->add_option("--check", given->check, "file with keys, one a line; -: standard input");
  command->add_flag("--verify-live", given->verify_live, "sample keys on the servers and see that they lie right");
  command->add_option("--sample", given->live.sample, "keys sampled a server")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command->add_option("--credentials-file", given->live.credentials_file,
                      "file (mode 0600) that says how to log in: one line a server, address user password");
  add_json_option(*command, context);
  on_run(*command, context, [&context, given] {
    const auto exit = run(context, *given);
    return exit ? *exit : report(context, exit.error());
  });
}

}  // namespace slipring::cli
