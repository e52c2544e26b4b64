// `slipring lab misses | cascade | capacity | maglev`: what a change does to the fleet around the keys.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "slipring/base/parse.h"
#include "slipring/cli/lab_command.h"
#include "slipring/cli/node_spec.h"
#include "slipring/lab/analysis/balance.h"
#include "slipring/lab/analysis/capacity.h"
#include "slipring/lab/analysis/cascade.h"
#include "slipring/lab/analysis/maglev.h"
#include "slipring/lab/analysis/misses.h"
#include "slipring/lab/analysis/rings.h"
#include "slipring/placement/registry.h"
#include "slipring/placement/ring.h"

namespace slipring::cli {
namespace {

const SystemClock kClock;

// Milliseconds that the native ring takes to find the server of a key, measured here and now.
Result<double> measure_lookup(uint64_t servers) {
  const std::vector<Member> members = lab::numbered_members(servers);
  const uint64_t vnodes = std::min<uint64_t>(512, kTokensMax / servers);
  SLIPRING_ASSIGN(const auto ring, make_scheme({"ring", {{"vnodes", std::to_string(vnodes)}}}, members));
  const lab::KeySet keys = lab::synthetic_keys(10'000, lab::KeyShape::kUniform, 1);
  const std::vector<std::string_view> names = keys.names();
  return lab::nanos_per_lookup(*ring, names, kClock) * 1e-6;
}

struct MissesOptions {
  lab::MissesInput input;
  bool no_lookup = false;
};

void declare_misses(CLI::App& command, MissesOptions& o) {
  command.add_option("--lookups", o.input.lookups_per_second, "lookups a second")->capture_default_str();
  command.add_option("--hit-ratio", o.input.hit_ratio, "before the change, 0 to 1")->capture_default_str();
  command.add_option("--required", o.input.required_hit_ratio, "the hit ratio that was promised")
      ->capture_default_str();
  command.add_option("--servers", o.input.servers, "before the change")->capture_default_str();
  command.add_option("--change", o.input.change, "servers that join; below 0: that leave")->capture_default_str();
  command.add_option("--origin-capacity", o.input.origin_capacity, "lookups a second that the origin can serve")
      ->capture_default_str();
  command.add_option("--cached-keys", o.input.keys, "keys that are cached")->capture_default_str();
  command.add_flag("--zipf", o.input.zipf, "keys are asked for by Zipf's law; else all alike");
  command.add_option("--changes-per-week", o.input.changes_per_week, "for the year's figures")->capture_default_str();
  command.add_option("--lookup-budget", o.input.lookup_budget_ms, "milliseconds in which a key's server must be found")
      ->capture_default_str();
}

struct CapacityOptions {
  lab::CapacityInput input;
  LabNodes nodes;
  uint64_t zones = 3;
  std::vector<std::string> add;
  std::vector<std::string> remove;
  std::string bytes = "1000000000000";
  std::string rate = "100000000";
  std::string range = "120000000000";
};

Result<double> read_bytes(const char* option, const std::string& text) {
  auto bytes = parse_u64(text, 1, uint64_t{1} << 60);
  if (!bytes) return fail_in(option, bytes.error());
  return static_cast<double>(*bytes);
}

Result<lab::Report> capacity(CapacityOptions o) {
  SLIPRING_ASSIGN(o.input.before, read_lab_nodes(o.nodes));
  if (o.nodes.placement.nodes.empty() && o.zones > 0) {
    for (size_t i = 0; i < o.input.before.size(); ++i) o.input.before[i].zone = fmt::format("z{}", i % o.zones + 1);
  }
  o.input.after = o.input.before;
  for (const std::string& name : o.remove) {
    if (std::erase_if(o.input.after, [&](const Member& m) { return m.name == name; }) == 0) {
      return fail(Code::kInvalidArgument, fmt::format("--remove {}: no such node", name));
    }
  }
  for (const std::string& text : o.add) {
    SLIPRING_ASSIGN(const std::vector<Member> added, parse_node_list(text));
    o.input.after.insert(o.input.after.end(), added.begin(), added.end());
  }
  SLIPRING_ASSIGN(o.input.bytes, read_bytes("--bytes", o.bytes));
  SLIPRING_ASSIGN(o.input.bytes_per_second, read_bytes("--rate", o.rate));
  SLIPRING_ASSIGN(o.input.range_bytes, read_bytes("--range", o.range));
  return lab::analyse_capacity(o.input);
}

}  // namespace

void add_lab_misses(CLI::App& lab, Context& context) {
  CLI::App* command = add_command(
      lab, "misses", "What a change of a cache's servers does to the origin behind it, with and without warming",
      "slipring lab misses --lookups 500000 --hit-ratio 0.95 --servers 100 --change -1\n"
      "  slipring lab misses --servers 20 --change 1 --origin-capacity 40000 --zipf --svg misses.svg");
  const auto o = std::make_shared<MissesOptions>();
  declare_misses(*command, *o);
  on_report(*command, context, [o]() -> Result<lab::Report> {
    SLIPRING_TRY(lab::simulate_misses(o->input));
    SLIPRING_ASSIGN(o->input.lookup_ms, measure_lookup(o->input.servers));
    return lab::analyse_misses(o->input);
  });
}

void add_lab_cascade(CLI::App& lab, Context& context) {
  CLI::App* command = add_command(lab, "cascade", "Who falls after whom when a node dies, by the number of vnodes",
                                  "slipring lab cascade --nodes 20 --capacity 1.3 --vnodes 1,128,512");
  struct Options {
    lab::CascadeInput input;
    std::string vnodes = "1,128,512";
  };
  const auto o = std::make_shared<Options>();
  command->add_option("--nodes", o->input.nodes, "how many: n1, n2, ...")->capture_default_str();
  command->add_option("--capacity", o->input.capacity, "of a node, by the mean load")->capture_default_str();
  command->add_option("--first", o->input.first, "the node that dies; else the one with the largest load");
  command->add_option("--vnodes", o->vnodes, "numbers of vnodes, parted by commas")->capture_default_str();
  command->add_option("--ring-seed", o->input.seed, "of the ring")->capture_default_str();
  on_report(*command, context, [o]() -> Result<lab::Report> {
    auto vnodes = parse_numbers(o->vnodes, kTokensMax);
    if (!vnodes) return fail_in("--vnodes", vnodes.error());
    o->input.vnodes = std::move(*vnodes);
    return lab::analyse_cascade(o->input);
  });
}

void add_lab_capacity(CLI::App& lab, Context& context) {
  CLI::App* command = add_command(
      lab, "capacity", "Bytes to move, time at a cap, what is stored twice, and zones, where keys have replicas",
      "slipring lab capacity --count 24 --zones 3 --vnodes 128 --replicas 3 --add n25@z1 --range 120000000000 --rate "
      "100000000\n"
      "  slipring lab capacity --nodes a@z1,b@z2,c@z3,d@z1 --remove d --bytes 5000000000000");
  const auto o = std::make_shared<CapacityOptions>();
  command->add_option("--nodes", o->nodes.placement.nodes, "the nodes with their zones, or a file that holds them");
  command->add_option("--count", o->nodes.count, "so many equal nodes n1, n2, ... where --nodes is not given")
      ->check(CLI::Range(uint64_t{1}, uint64_t{kMembersMax}))
      ->capture_default_str();
  command->add_option("--zones", o->zones, "the nodes of --count stand in z1, z2, ... in turn; 0: in none")
      ->capture_default_str();
  command->add_option("--vnodes", o->input.vnodes, "of a node of weight 1")
      ->check(CLI::Range(uint64_t{1}, kTokensMax))
      ->capture_default_str();
  command->add_option("--replicas", o->input.replicas, "copies of a key")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  command->add_option("--add", o->add, "a node that joins, as in --nodes; may be repeated")->allow_extra_args(false);
  command->add_option("--remove", o->remove, "a node that leaves; may be repeated")->allow_extra_args(false);
  command->add_option("--bytes", o->bytes, "of all keys, once")->capture_default_str();
  command->add_option("--rate", o->rate, "bytes a second that may be moved")->capture_default_str();
  command->add_option("--range", o->range, "bytes of one range that is moved at that rate")->capture_default_str();
  on_report(*command, context, [o] { return capacity(*o); });
}

void add_lab_maglev(CLI::App& lab, Context& context) {
  CLI::App* command =
      add_command(lab, "maglev", "Connections that survive a change, by table size, beside ring and modulo",
                  "slipring lab maglev --nodes 10 --remove n2 --tables 65537,655373");
  struct Options {
    lab::MaglevInput input;
    std::string tables = "251,1021,4093,16381,65537,655373";
  };
  const auto o = std::make_shared<Options>();
  command->add_option("--nodes", o->input.nodes, "how many backends: n1, n2, ...")->capture_default_str();
  command->add_option("--remove", o->input.removed, "the backend that leaves")->capture_default_str();
  command->add_option("--tables", o->tables, "sizes of the table, primes, parted by commas")->capture_default_str();
  command->add_option("--vnodes", o->input.vnodes, "of the ring")
      ->check(CLI::Range(uint64_t{1}, kTokensMax))
      ->capture_default_str();
  command->add_option("--connections", o->input.connections, "how many")->capture_default_str();
  command->add_option("--seed", o->input.seed, "of the connections")->capture_default_str();
  on_report(*command, context, [o]() -> Result<lab::Report> {
    auto sizes = parse_numbers(o->tables, UINT32_MAX);
    if (!sizes) return fail_in("--tables", sizes.error());
    o->input.table_sizes = std::move(*sizes);
    return lab::analyse_maglev(o->input);
  });
}

}  // namespace slipring::cli
