#include "slipring/lab/analysis/maglev.h"

#include <fmt/format.h>

#include <algorithm>

#include "slipring/lab/analysis/balance.h"
#include "slipring/lab/analysis/rings.h"
#include "slipring/lab/analysis/statistics.h"

namespace slipring::lab {
namespace {

constexpr uint64_t kTableNodesMax = 10'000;
constexpr uint64_t kConnectionsMax = 10'000'000;

struct Outcome {
  double survive = 0;  // of all connections
  double others = 0;   // of those of the backends that stay
  double max = 0;      // load before, by the fair one
};

Result<Outcome> measure(const SchemeSpec& spec, const std::vector<Member>& before, const std::vector<Member>& after,
                        const KeySet& set, const std::string& removed) {
  SLIPRING_ASSIGN(const auto old_scheme, make_scheme(spec, before));
  SLIPRING_ASSIGN(const auto new_scheme, make_scheme(spec, after));
  const std::vector<std::string_view> keys = set.names();
  std::vector<NodeIndex> was(keys.size());
  std::vector<NodeIndex> is(keys.size());
  old_scheme->owners(keys, was);
  new_scheme->owners(keys, is);
  std::vector<double> loads(before.size());
  double same = 0;
  double staying = 0;
  for (size_t i = 0; i < keys.size(); ++i) {
    loads[was[i]] += 1;
    staying += before[was[i]].name != removed ? 1 : 0;
    same += before[was[i]].name == after[is[i]].name ? 1 : 0;
  }
  Outcome out;
  out.survive = same / static_cast<double>(keys.size());
  out.others = staying > 0 ? same / staying : 0;
  out.max = spread_of(loads, fair_shares(before)).max;
  return out;
}

}  // namespace

Result<Report> analyse_maglev(const MaglevInput& input) {
  if (input.nodes < 2 || input.nodes > kTableNodesMax)
    return fail(Code::kInvalidArgument, fmt::format("nodes: must be 2 to {}", kTableNodesMax));
  if (input.connections < 1 || input.connections > kConnectionsMax) {
    return fail(Code::kInvalidArgument, fmt::format("connections: must be 1 to {}", kConnectionsMax));
  }
  const std::vector<Member> before = numbered_members(input.nodes);
  std::vector<Member> after = before;
  std::erase_if(after, [&](const Member& m) { return m.name == input.removed; });
  if (after.size() == before.size()) {
    return fail(Code::kInvalidArgument, fmt::format("node {}: there are n1 to n{}", input.removed, input.nodes));
  }
  const KeySet set = synthetic_keys(input.connections, KeyShape::kUniform, input.seed);
  Report report;
  report.title =
      fmt::format("{} connections over {} backends, {} leaves", input.connections, input.nodes, input.removed);
  ReportTable table{"survive",
                    "Connections that survive",
                    {{"placement", "placement"},
                     {"survive", "of all", Unit::kShare},
                     {"others", "of the backends that stay", Unit::kShare},
                     {"max", "max/fair before", Unit::kFactor}},
                    {}};
  Plot plot{"Connections to backends that stay and are broken all the same",
            Plot::Kind::kLines,
            "table size (logarithmic)",
            "% broken",
            true,
            {},
            {{"maglev", {}}}};
  for (const uint64_t size : input.table_sizes) {
    SLIPRING_ASSIGN(const Outcome out,
                    measure({"maglev", {{"table", std::to_string(size)}}}, before, after, set, input.removed));
    table.add({fmt::format("maglev, table of {}", size), out.survive, out.others, out.max});
    plot.series[0].points.emplace_back(static_cast<double>(size), (1 - out.others) * 100);
  }
  SLIPRING_ASSIGN(const Outcome ring,
                  measure({"ring", {{"vnodes", std::to_string(input.vnodes)}}}, before, after, set, input.removed));
  table.add({fmt::format("ring, {} vnodes", input.vnodes), ring.survive, ring.others, ring.max});
  SLIPRING_ASSIGN(const Outcome modulo, measure({"modulo", {}}, before, after, set, input.removed));
  table.add({std::string("hash mod n"), modulo.survive, modulo.others, modulo.max});
  report.tables.push_back(std::move(table));
  if (plot.series[0].points.size() > 1) report.plots.push_back(std::move(plot));
  const auto n = static_cast<double>(input.nodes);
  report.notes.push_back(
      fmt::format("Theory: a ring keeps every connection of the backends that stay, {:.3f} % of all; by remainder 1 in "
                  "{} keeps its "
                  "backend where the last one leaves.",
                  (1 - 1 / n) * 100, input.nodes));
  return report;
}

}  // namespace slipring::lab
