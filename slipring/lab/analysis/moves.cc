#include "slipring/lab/analysis/moves.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "slipring/base/parse.h"
#include "slipring/lab/analysis/rings.h"
#include "slipring/lab/analysis/statistics.h"
#include "slipring/placement/plan_moves.h"
#include "slipring/placement/ring.h"

namespace slipring::lab {
namespace {

constexpr size_t kPairsMax = 100'000;
constexpr uint64_t kCycleMax = 10'000'000;
constexpr int64_t kWeightOne = 1000;

std::string name_at(const std::vector<Member>& members, NodeIndex node) {
  return node == kNoNode ? "-" : members[node].name;
}

struct Moved {
  double keys = 0;
  double bytes = 0;
};

Moved count_moved(const Scheme& before, const Scheme& after, const MovesInput& input, const KeySet& set) {
  const std::vector<std::string_view> names = set.names();
  std::vector<NodeIndex> old_owners(names.size());
  std::vector<NodeIndex> new_owners(names.size());
  before.owners(names, old_owners);
  after.owners(names, new_owners);
  Moved moved;
  for (size_t i = 0; i < names.size(); ++i) {
    if (name_at(input.before.members, old_owners[i]) == name_at(input.after.members, new_owners[i])) continue;
    moved.keys += 1;
    moved.bytes += set.keys[i].bytes_in_all();
  }
  return moved;
}

ReportTable summary_table(const MovesInput& input, const MovePlan& plan, const Moved& moved, const KeySet& set) {
  ReportTable table{"moved", "Moved by the change", {{"of", ""}, {"share", "share", Unit::kShare}}, {}};
  table.add({fmt::format("of the key space, {}", plan.exact ? "exact" : "from a sample"), plan.moved_share});
  table.add({"the least that any placement must move", plan.least_share});
  table.add({fmt::format("of {}", set.origin), moved.keys / static_cast<double>(set.keys.size())});
  if (set.has_bytes) {
    double bytes = 0;
    for (const LabKey& key : set.keys) bytes += key.bytes_in_all();
    table.add({"of their bytes", bytes > 0 ? moved.bytes / bytes : 0});
  }
  table.add({fmt::format("by hash mod {} -> mod {}", input.before.members.size(), input.after.members.size()),
             modulo_moved_share(input.before.members, input.after.members)});
  return table;
}

// The vnodes of a ring without options that would change its theory; 0 of any other scheme.
uint64_t plain_vnodes(const SchemeSpec& spec) {
  constexpr uint64_t kDefault = 512;
  if (spec.name != "ring") return 0;
  uint64_t vnodes = kDefault;
  for (const auto& [name, value] : spec.options) {
    if (name == "vnodes") {
      vnodes = parse_u64(value, 1, kTokensMax).value_or(0);
    } else if (name != "seed") {
      return 0;
    }
  }
  return vnodes;
}

// What theory says of the change, beside many rings, and beside the remainder.
void add_theory(const MovesInput& input, Report& report) {
  const uint64_t old_vnodes = plain_vnodes(input.before.spec);
  const uint64_t new_vnodes = plain_vnodes(input.after.spec);
  if (input.rings == 0 || old_vnodes == 0 || new_vnodes == 0) return;
  const RingChange change = ring_change(input.before.members, old_vnodes, input.after.members, new_vnodes);
  const std::vector<double> shares = moved_shares(change, input.rings);
  const double modulo = modulo_moved_share(input.before.members, input.after.members);
  ReportTable table{"theory",
                    fmt::format("Share that moves over {} rings of fixed seeds", input.rings),
                    {{"figure", ""}, {"ring", "ring", Unit::kShare}, {"modulo", "hash mod n", Unit::kShare}},
                    {}};
  table.add({"theory", theory_moved(change), modulo});
  table.add({"mean", mean_of(shares), modulo});
  table.add({"root mean square", root_mean_square(shares), modulo});
  table.add({"5th percentile", percentile_of(shares, 0.05), modulo});
  table.add({"95th percentile", percentile_of(shares, 0.95), modulo});
  report.tables.push_back(std::move(table));
}

// On how many nodes the load of one that leaves falls: one ring beside many.
void add_takers(const MovesInput& input, const MovePlan& plan, Report& report) {
  const uint64_t nodes = input.before.members.size();
  const uint64_t vnodes = plain_vnodes(input.before.spec);
  const bool equal = std::all_of(input.before.members.begin(), input.before.members.end(),
                                 [&](const Member& m) { return m.weight_milli == kWeightOne; });
  if (input.rings == 0 || vnodes == 0 || !equal || input.after.members.size() + 1 != nodes) return;
  ReportTable table{"takers",
                    fmt::format("Nodes on which the load of one of {} falls when it leaves", nodes),
                    {{"figure", ""}, {"nodes", "nodes", Unit::kNumber}},
                    {}};
  table.add({"this ring", static_cast<double>(plan.moves.size())});
  table.add({"theory", theory_takers(nodes, vnodes)});
  table.add({fmt::format("mean of {} rings", input.rings), measure_rings(nodes, vnodes, input.rings).takers});
  report.tables.push_back(std::move(table));
}

void add_pairs(const MovesInput& input, const MovePlan& plan, Report& report) {
  ReportTable table{"pairs",
                    "Who gives to whom",
                    {{"from", "from"},
                     {"to", "to"},
                     {"share", "share of all keys", Unit::kShare},
                     {"ranges", plan.exact ? "ranges" : "sampled keys", Unit::kCount}},
                    {}};
  std::map<NodeIndex, size_t> receivers;
  for (const MoveShare& move : plan.moves) {
    ++receivers[move.source];
    if (table.rows.size() == kPairsMax) continue;
    table.add({name_at(input.before.members, move.source), name_at(input.after.members, move.target), move.share,
               static_cast<double>(move.ranges)});
  }
  if (plan.moves.size() > kPairsMax) {
    report.notes.push_back(fmt::format("{} more pairs are not shown.", plan.moves.size() - kPairsMax));
  }
  for (const auto& [source, count] : receivers) {
    bool stays = false;
    for (const Member& m : input.after.members) stays |= m.name == input.before.members[source].name;
    if (stays) continue;
    report.notes.push_back(fmt::format("The load of {} falls on {} of the {} nodes that stay.",
                                       input.before.members[source].name, count, input.after.members.size()));
  }
  if (!table.rows.empty()) report.tables.push_back(std::move(table));
}

}  // namespace

double modulo_moved_share(uint64_t before, uint64_t after) {
  // In a cycle of lcm hashes each remainder below both counts is shared by one hash, and no other hash keeps its own.
  const uint64_t cycle = std::lcm(before, after);
  return 1 - static_cast<double>(std::min(before, after)) / static_cast<double>(cycle);
}

double modulo_moved_share(std::span<const Member> before, std::span<const Member> after) {
  const uint64_t cycle = std::lcm(uint64_t{before.size()}, uint64_t{after.size()});
  bool same_order = true;
  for (size_t i = 0; i < std::min(before.size(), after.size()); ++i) same_order &= before[i].name == after[i].name;
  // By the names a node may keep its keys under another remainder.
  if (same_order || cycle > kCycleMax) return modulo_moved_share(before.size(), after.size());
  uint64_t moved = 0;
  for (uint64_t hash = 0; hash < cycle; ++hash) {
    moved += before[hash % before.size()].name != after[hash % after.size()].name ? 1 : 0;
  }
  return static_cast<double>(moved) / static_cast<double>(cycle);
}

Result<Report> analyse_moves(const MovesInput& input, const KeySet& set) {
  auto before = make_scheme(input.before.spec, input.before.members);
  if (!before) return fail_in("before", before.error());
  auto after = make_scheme(input.after.spec, input.after.members);
  if (!after) return fail_in("after", after.error());
  const MovePlan plan = plan_moves({**before, input.before.members}, {**after, input.after.members});
  Report report;
  report.title = fmt::format("{}: {} over {} nodes -> {} over {}", input.change, input.before.spec.name,
                             input.before.members.size(), input.after.spec.name, input.after.members.size());
  report.tables.push_back(summary_table(input, plan, count_moved(**before, **after, input, set), set));
  add_theory(input, report);
  add_takers(input, plan, report);
  add_pairs(input, plan, report);
  Plot plot{"Moved share of the keys",
            Plot::Kind::kBars,
            "",
            "% of all keys",
            false,
            {"this change", "least", "hash mod n"},
            {{"moved", {}}}};
  plot.series[0].points = {{0, plan.moved_share * 100},
                           {1, plan.least_share * 100},
                           {2, modulo_moved_share(input.before.members, input.after.members) * 100}};
  report.plots.push_back(std::move(plot));
  return report;
}

Report analyse_remainders(std::span<const uint64_t> hashes, std::span<const std::string> before,
                          std::span<const std::string> after) {
  Report report;
  report.title =
      fmt::format("{} hashes by their remainder, {} -> {} nodes", hashes.size(), before.size(), after.size());
  ReportTable table{"hashes",
                    "Hashes",
                    {{"hash", "hash"},
                     {"index_before", "index", Unit::kCount},
                     {"node_before", "node"},
                     {"index_after", "index after", Unit::kCount},
                     {"node_after", "node after"},
                     {"changes", "changes"}},
                    {}};
  size_t servers = 0;
  size_t indexes = 0;
  for (const uint64_t hash : hashes) {
    const size_t b = hash % before.size();
    const size_t a = hash % after.size();
    const bool server = before[b] != after[a];
    servers += server ? 1 : 0;
    indexes += b != a ? 1 : 0;
    table.add({std::to_string(hash), static_cast<double>(b), before[b], static_cast<double>(a), after[a],
               std::string(server   ? "server"
                           : b != a ? "index only"
                                    : "-")});
  }
  report.tables.push_back(std::move(table));
  report.notes.push_back(fmt::format("{} of {} keys change their server.", servers, hashes.size()));
  report.notes.push_back(fmt::format("{} of {} keys change their index.", indexes, hashes.size()));
  return report;
}

}  // namespace slipring::lab
