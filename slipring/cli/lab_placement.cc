// `slipring lab balance | moves | karger | hashes`: what a placement does with keys.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "slipring/base/parse.h"
#include "slipring/cli/lab_command.h"
#include "slipring/cli/node_spec.h"
#include "slipring/lab/analysis/balance.h"
#include "slipring/lab/analysis/hashes.h"
#include "slipring/lab/analysis/karger.h"
#include "slipring/lab/analysis/moves.h"
#include "slipring/lab/analysis/rings.h"
#include "slipring/placement/registry.h"
#include "slipring/placement/ring.h"

namespace slipring::cli {
namespace {

const SystemClock kPlacementClock;
constexpr uint64_t kRingsMax = 100'000;

// ---- balance

struct BalanceOptions {
  LabNodes nodes;
  LabKeyOptions keys;
  std::string vnodes;
  uint64_t rings = 200;
  bool redact = false;
};

Result<lab::Report> balance(const BalanceOptions& o, Console& console) {
  lab::BalanceInput input;
  SLIPRING_ASSIGN(input.spec, read_spec(o.nodes.placement.scheme, o.nodes.placement.options));
  SLIPRING_ASSIGN(input.members, read_lab_nodes(o.nodes));
  input.rings = o.rings;
  input.redact = o.redact;
  if (!o.vnodes.empty()) {
    auto vnodes = parse_numbers(o.vnodes, kTokensMax);
    if (!vnodes) return fail_in("--vnodes", vnodes.error());
    input.vnodes = std::move(*vnodes);
  }
  SLIPRING_ASSIGN(const lab::KeySet keys, read_lab_keys(o.keys, console, kPlacementClock));
  return lab::analyse_balance(input, keys, kPlacementClock);
}

// ---- moves

struct MovesOptions {
  LabNodes nodes;
  LabKeyOptions keys;
  std::vector<std::string> add;
  std::vector<std::string> remove;
  std::vector<std::string> weight;
  PlacementOptions to;
  std::vector<uint64_t> hashes;
  uint64_t rings = 200;
};

Status change_weight(const std::string& text, std::vector<Member>& members) {
  const size_t mark = text.rfind('=');
  if (mark == std::string::npos)
    return fail(Code::kInvalidArgument, fmt::format("--weight \"{}\": must be NAME=WEIGHT", text));
  const auto milli = parse_milli(text.substr(mark + 1), 0, kWeightMilliMax);
  if (!milli) return fail_in("--weight " + text, milli.error());
  for (Member& m : members) {
    if (m.name != text.substr(0, mark)) continue;
    m.weight_milli = *milli;
    return {};
  }
  return fail(Code::kInvalidArgument, fmt::format("--weight {}: no such node", text));
}

// The nodes after the change, and what to call it.
Result<std::string> change_members(const MovesOptions& o, std::vector<Member>& members) {
  std::vector<std::string> said;
  if (!o.to.nodes.empty()) {
    SLIPRING_ASSIGN(members, read_nodes(o.to.nodes));
    said.emplace_back("other nodes");
  }
  for (const std::string& name : o.remove) {
    if (std::erase_if(members, [&](const Member& m) { return m.name == name; }) == 0) {
      return fail(Code::kInvalidArgument, fmt::format("--remove {}: no such node", name));
    }
    said.push_back("remove " + name);
  }
  for (const std::string& text : o.add) {
    SLIPRING_ASSIGN(const std::vector<Member> added, parse_node_list(text));
    members.insert(members.end(), added.begin(), added.end());
    said.push_back("add " + text);
  }
  for (const std::string& text : o.weight) {
    SLIPRING_TRY(change_weight(text, members));
    said.push_back("weight " + text);
  }
  if (!o.to.scheme.empty()) said.push_back("scheme " + o.to.scheme);
  if (said.empty() && o.to.options.empty()) {
    return fail(Code::kInvalidArgument,
                "no change: name one with --add, --remove, --weight, --to-scheme, --to-opt or --to-nodes");
  }
  std::string text = said.empty() ? "other options" : said[0];
  for (size_t i = 1; i < said.size(); ++i) text += ", " + said[i];
  return text;
}

std::vector<std::string> names_of(const std::vector<Member>& members) {
  std::vector<std::string> names;
  for (const Member& m : members) names.push_back(m.name);
  return names;
}

Result<lab::Report> moves(const MovesOptions& o, Console& console) {
  lab::MovesInput input;
  SLIPRING_ASSIGN(input.before.members, read_lab_nodes(o.nodes));
  SLIPRING_ASSIGN(input.before.spec, read_spec(o.nodes.placement.scheme, o.nodes.placement.options));
  input.after.members = input.before.members;
  SLIPRING_ASSIGN(input.change, change_members(o, input.after.members));
  if (input.after.members.empty()) return fail(Code::kInvalidArgument, "the change leaves no node");
  if (!o.hashes.empty()) {
    if (o.nodes.placement.scheme != "modulo")
      return fail(Code::kInvalidArgument, "--hashes: only with --scheme modulo");
    return lab::analyse_remainders(o.hashes, names_of(input.before.members), names_of(input.after.members));
  }
  if (o.to.scheme.empty()) {
    input.after.spec = input.before.spec;
    SLIPRING_ASSIGN(const SchemeSpec options, read_spec(input.after.spec.name, o.to.options));
    for (const auto& [name, value] : options.options) input.after.spec.options[name] = value;
  } else {
    SLIPRING_ASSIGN(input.after.spec, read_spec(o.to.scheme, o.to.options));
  }
  input.rings = o.rings;
  SLIPRING_ASSIGN(const lab::KeySet keys, read_lab_keys(o.keys, console, kPlacementClock));
  return lab::analyse_moves(input, keys);
}

// ---- karger

struct KargerOptions {
  LabNodes nodes;
  LabKeyOptions keys;
  std::vector<std::string> schemes = {"ring", "modulo", "rendezvous", "maglev"};
  uint64_t views = 20;
  double view_share = 0.5;
};

Result<lab::Report> karger(const KargerOptions& o, Console& console) {
  lab::KargerInput input;
  SLIPRING_ASSIGN(input.members, read_lab_nodes(o.nodes));
  if (o.views * input.members.size() > 10'000'000)
    return fail(Code::kInvalidArgument, "--views: too many for so many nodes");
  for (const std::string& scheme : o.schemes) {
    SLIPRING_ASSIGN(
        SchemeSpec spec,
        read_spec(scheme, scheme == o.nodes.placement.scheme ? o.nodes.placement.options : std::vector<std::string>()));
    input.specs.push_back(std::move(spec));
  }
  input.views = o.views;
  input.view_share = o.view_share;
  input.seed = o.keys.seed;
  SLIPRING_ASSIGN(const lab::KeySet keys, read_lab_keys(o.keys, console, kPlacementClock));
  return lab::analyse_karger(input, keys);
}

}  // namespace

void add_lab_balance(CLI::App& lab, Context& context) {
  CLI::App* command =
      add_command(lab, "balance", "How evenly keys and bytes are spread, and what more vnodes would buy",
                  "slipring lab balance --count 10 --vnodes 50,100,200,512 --svg balance.svg\n"
                  "  slipring lab balance --nodes a,b*2,c --from redis://127.0.0.1:6379\n"
                  "  slipring lab balance --scheme ketama --nodes nodes.txt --keys keys.txt --json");
  const auto o = std::make_shared<BalanceOptions>();
  add_lab_node_options(*command, o->nodes);
  add_lab_key_options(*command, o->keys);
  command->add_option("--vnodes", o->vnodes, "numbers of vnodes to compare, parted by commas; for the scheme ring");
  command->add_option("--rings", o->rings, "rings over which the mean is measured")
      ->check(CLI::Range(uint64_t{1}, kRingsMax))
      ->capture_default_str();
  command->add_flag("--redact", o->redact, "never print a key");
  on_report(*command, context, [&context, o] { return balance(*o, context.console); });
}

void add_lab_moves(CLI::App& lab, Context& context) {
  CLI::App* command = add_command(
      lab, "moves", "What a change moves, beside the least possible, and who gives to whom",
      "slipring lab moves --count 3 --add n4 --opt vnodes=100 --rings 2000\n"
      "  slipring lab moves --nodes a,b,c,d --remove b\n"
      "  slipring lab moves --scheme ketama --nodes nodes.txt --to-scheme ring --keys keys.txt\n"
      "  slipring lab moves --scheme modulo --nodes A,B,C,D --remove B --hashes 18358617,26143584,18131146");
  const auto o = std::make_shared<MovesOptions>();
  o->to.scheme.clear();
  add_lab_node_options(*command, o->nodes);
  add_lab_key_options(*command, o->keys);
  command->add_option("--add", o->add, "a node that joins, as in --nodes; may be repeated")->allow_extra_args(false);
  command->add_option("--remove", o->remove, "a node that leaves; may be repeated")->allow_extra_args(false);
  command->add_option("--weight", o->weight, "NAME=WEIGHT: a new weight; may be repeated")->allow_extra_args(false);
  command->add_option("--to-scheme", o->to.scheme, "the scheme after the change");
  command->add_option("--to-opt", o->to.options, "an option of the scheme after the change; may be repeated")
      ->allow_extra_args(false);
  command->add_option("--to-nodes", o->to.nodes, "the nodes after the change");
  command
      ->add_option("--rings", o->rings,
                   "rings over which theory is measured, where both schemes are plain rings; 0: not")
      ->check(CLI::Range(uint64_t{0}, kRingsMax))
      ->capture_default_str();
  command->add_option("--hashes", o->hashes, "numbers that are hashes already, placed by their remainder")
      ->delimiter(',');
  on_report(*command, context, [&context, o] { return moves(*o, context.console); });
}

void add_lab_karger(CLI::App& lab, Context& context) {
  CLI::App* command = add_command(
      lab, "karger", "Balance, monotonicity, spread and load, with clients that know only some of the nodes",
      "slipring lab karger --count 20 --views 30 --view-share 0.5\n"
      "  slipring lab karger --nodes a,b,c,d --schemes ring,jump");
  const auto o = std::make_shared<KargerOptions>();
  o->keys.sample = 10'000;
  add_lab_node_options(*command, o->nodes);
  add_lab_key_options(*command, o->keys);
  command->add_option("--schemes", o->schemes, "the schemes to compare; --opt is for the one of --scheme")
      ->delimiter(',');
  command->add_option("--views", o->views, "clients")
      ->check(CLI::Range(uint64_t{1}, uint64_t{10'000}))
      ->capture_default_str();
  command->add_option("--view-share", o->view_share, "of the nodes that a client knows, by chance")
      ->check(CLI::Range(0.001, 1.0))
      ->capture_default_str();
  on_report(*command, context, [&context, o] { return karger(*o, context.console); });
}

void add_lab_hashes(CLI::App& lab, Context& context) {
  CLI::App* command = add_command(lab, "hashes", "How evenly hash functions spread keys, and what a key costs",
                                  "slipring lab hashes --sample 1000000 --shape sequential\n"
                                  "  slipring lab hashes --keys keys.txt --buckets 256");
  struct Options {
    LabKeyOptions keys;
    uint64_t buckets = 1024;
  };
  const auto o = std::make_shared<Options>();
  add_lab_key_options(*command, o->keys);
  command->add_option("--buckets", o->buckets, "ranges of the hash")
      ->check(CLI::Range(uint64_t{2}, uint64_t{1} << 20))
      ->capture_default_str();
  on_report(*command, context, [&context, o]() -> Result<lab::Report> {
    SLIPRING_ASSIGN(const lab::KeySet keys, read_lab_keys(o->keys, context.console, kPlacementClock));
    return lab::analyse_hashes(keys, o->buckets, kPlacementClock);
  });
}

}  // namespace slipring::cli
