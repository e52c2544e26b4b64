#include "slipring/lab/analysis/balance.h"

#include <fmt/format.h>

#include "slipring/lab/analysis/rings.h"
#include "slipring/lab/analysis/statistics.h"
#include "slipring/placement/plan_moves.h"

namespace slipring::lab {
namespace {

constexpr Millis kMeasureFor{20};
constexpr uint64_t kMeasuredKeysMax = 1 << 16;
constexpr double kBytesPerToken = 16;
constexpr size_t kHeaviestShown = 10;

struct Loads {
  std::vector<double> keys;
  std::vector<double> bytes;
  std::vector<double> lookups;
};

Loads loads_of(const Scheme& scheme, const KeySet& set) {
  const std::vector<std::string_view> names = set.names();
  std::vector<NodeIndex> owners(names.size());
  scheme.owners(names, owners);
  Loads loads;
  for (auto* load : {&loads.keys, &loads.bytes, &loads.lookups}) load->assign(scheme.member_count(), 0);
  for (size_t i = 0; i < owners.size(); ++i) {
    if (owners[i] == kNoNode) continue;
    loads.keys[owners[i]] += 1;
    loads.bytes[owners[i]] += set.keys[i].bytes_in_all();
    loads.lookups[owners[i]] += set.keys[i].lookups;
  }
  return loads;
}

bool asked_unevenly(const KeySet& set) {
  return !set.keys.empty() && set.keys.back().lookups != set.keys.front().lookups;
}

void add_spread(ReportTable& table, const std::string& what, std::span<const double> loads,
                std::span<const double> fair) {
  const Spread spread = spread_of(loads, fair);
  table.add({what, spread.stdev, spread.max, spread.min});
}

ReportTable nodes_table(const BalanceInput& input, const KeySet& set, const Loads& loads,
                        const std::vector<double>& shares, const std::vector<double>& fair) {
  ReportTable table{"nodes",
                    "Nodes",
                    {{"node", "node"},
                     {"fair", "fair", Unit::kShare},
                     {"share", "of the key space", Unit::kShare},
                     {"keys", "keys", Unit::kCount}},
                    {}};
  if (set.has_bytes) table.columns.push_back({"bytes", "bytes", Unit::kBytes});
  if (asked_unevenly(set)) table.columns.push_back({"lookups", "look-ups", Unit::kShare});
  double sum = 0;
  for (const double lookups : loads.lookups) sum += lookups;
  for (size_t i = 0; i < input.members.size(); ++i) {
    std::vector<Cell> row = {input.members[i].name, fair[i], shares[i], loads.keys[i]};
    if (set.has_bytes) row.emplace_back(loads.bytes[i]);
    if (asked_unevenly(set)) row.emplace_back(loads.lookups[i] / sum);
    table.add(std::move(row));
  }
  return table;
}

// The keys that weigh most: by bytes, else by look-ups.
ReportTable heaviest_table(const BalanceInput& input, const KeySet& set, const Scheme& scheme) {
  const auto weight = [&](size_t i) {
    return set.has_bytes ? static_cast<double>(set.keys[i].bytes) : set.keys[i].lookups;
  };
  std::vector<size_t> order(set.keys.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  const size_t shown = std::min(kHeaviestShown, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(shown), order.end(),
                    [&](size_t a, size_t b) { return weight(a) > weight(b); });
  double sum = 0;
  for (const LabKey& key : set.keys) sum += set.has_bytes ? key.bytes_in_all() : key.lookups;
  ReportTable table{"heaviest",
                    set.has_bytes ? "Largest keys" : "Keys that are asked for most",
                    {{"key", "key"}, {"node", "node"}, {"share", "of all", Unit::kShare}},
                    {}};
  for (size_t i = 0; i < shown; ++i) {
    const LabKey& key = set.keys[order[i]];
    const NodeIndex owner = scheme.owner(key.name);
    table.add({input.redact ? fmt::format("(redacted {})", i + 1) : key.name,
               owner == kNoNode ? std::string("-") : input.members[owner].name, sum > 0 ? weight(order[i]) / sum : 0});
  }
  return table;
}

// The same nodes with other numbers of vnodes.
Status compare_vnodes(const BalanceInput& input, const KeySet& set, const Clock& clock, Report& report) {
  ReportTable table{
      "vnodes",
      fmt::format("By vnodes (theory and mean are of {} rings of {} equal nodes)", input.rings, input.members.size()),
      {{"vnodes", "vnodes", Unit::kCount},
       {"theory_stdev", "stdev, theory", Unit::kShare},
       {"mean_stdev", "mean ring", Unit::kShare},
       {"keys_stdev", "these keys", Unit::kShare},
       {"keys_max", "max/mean", Unit::kFactor},
       {"keys_min", "min/mean", Unit::kFactor},
       {"theory_takers", "takers, theory", Unit::kNumber},
       {"mean_takers", "mean ring", Unit::kNumber},
       {"memory", "memory", Unit::kBytes},
       {"lookup", "look-up", Unit::kNanos}},
      {}};
  Plot plot{"Spread of the keys by number of vnodes",
            Plot::Kind::kLines,
            "vnodes per node (logarithmic)",
            "standard deviation, % of fair",
            true,
            {},
            {{"theory", {}}, {"mean ring", {}}, {"these keys", {}}}};
  const std::vector<double> fair = fair_shares(input.members);
  const std::vector<std::string_view> names = set.names();
  for (const uint64_t vnodes : input.vnodes) {
    SchemeSpec spec = input.spec;
    spec.options["vnodes"] = std::to_string(vnodes);
    SLIPRING_ASSIGN(const auto scheme, make_scheme(spec, input.members));
    const Spread spread = spread_of(loads_of(*scheme, set).keys, fair);
    const double theory = theory_stdev(input.members.size(), vnodes);
    const RingMeans mean = measure_rings(input.members.size(), vnodes, input.rings);
    table.add({static_cast<double>(vnodes), theory, mean.stdev, spread.stdev, spread.max, spread.min,
               theory_takers(input.members.size(), vnodes), mean.takers,
               kBytesPerToken * static_cast<double>(vnodes * input.members.size()),
               nanos_per_lookup(*scheme, names, clock)});
    const auto x = static_cast<double>(vnodes);
    plot.series[0].points.emplace_back(x, theory * 100);
    plot.series[1].points.emplace_back(x, mean.stdev * 100);
    plot.series[2].points.emplace_back(x, spread.stdev * 100);
  }
  report.tables.push_back(std::move(table));
  report.plots.push_back(std::move(plot));
  report.notes.emplace_back(
      "Theory of the spread: sqrt((n - 1) / (n V + 1)); takers are the nodes on which the load of one that leaves "
      "falls.");
  return {};
}

}  // namespace

std::vector<double> fair_shares(std::span<const Member> members) {
  double sum = 0;
  for (const Member& m : members) sum += static_cast<double>(m.weight_milli);
  std::vector<double> fair;
  for (const Member& m : members) fair.push_back(sum > 0 ? static_cast<double>(m.weight_milli) / sum : 0);
  return fair;
}

double nanos_per_lookup(const Scheme& scheme, std::span<const std::string_view> keys, const Clock& clock) {
  const auto some = keys.first(std::min<size_t>(keys.size(), kMeasuredKeysMax));
  std::vector<NodeIndex> owners(some.size());
  scheme.owners(some, owners);
  const MonoTime begin = clock.now();
  uint64_t done = 0;
  Nanos spent{0};
  while (spent < kMeasureFor && !some.empty()) {
    scheme.owners(some, owners);
    done += some.size();
    spent = clock.now() - begin;
  }
  return done == 0 ? 0 : static_cast<double>(spent.count()) / static_cast<double>(done);
}

Result<Report> analyse_balance(const BalanceInput& input, const KeySet& set, const Clock& clock) {
  SLIPRING_ASSIGN(const auto scheme, make_scheme(input.spec, input.members));
  Report report;
  report.title = fmt::format("Balance of {} over {} nodes, {}", input.spec.name, input.members.size(), set.origin);
  const std::vector<double> fair = fair_shares(input.members);
  const std::vector<double> shares = plan_shares(*scheme);
  const Loads loads = loads_of(*scheme, set);
  ReportTable spread{"spread",
                     "Spread, relative to the fair share",
                     {{"of", "of"},
                      {"stdev", "stdev", Unit::kShare},
                      {"max", "max/fair", Unit::kFactor},
                      {"min", "min/fair", Unit::kFactor}},
                     {}};
  add_spread(spread, "key space", shares, fair);
  add_spread(spread, "keys", loads.keys, fair);
  if (set.has_bytes) add_spread(spread, "bytes", loads.bytes, fair);
  if (asked_unevenly(set)) add_spread(spread, "look-ups", loads.lookups, fair);
  report.tables.push_back(std::move(spread));
  report.tables.push_back(nodes_table(input, set, loads, shares, fair));
  if (set.has_bytes || asked_unevenly(set)) report.tables.push_back(heaviest_table(input, set, *scheme));
  Plot plot{"Keys by node", Plot::Kind::kBars, "node", "keys, % of fair", false, {}, {{"keys", {}}}};
  for (size_t i = 0; i < input.members.size(); ++i) {
    plot.labels.push_back(input.members[i].name);
    const double expected = fair[i] * static_cast<double>(set.keys.size());
    plot.series[0].points.emplace_back(static_cast<double>(i), expected > 0 ? loads.keys[i] / expected * 100 : 0);
  }
  report.plots.push_back(std::move(plot));
  if (!input.vnodes.empty()) SLIPRING_TRY(compare_vnodes(input, set, clock, report));
  return report;
}

}  // namespace slipring::lab
