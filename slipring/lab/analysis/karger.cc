#include "slipring/lab/analysis/karger.h"

#include <fmt/format.h>

#include <cmath>
#include <set>

#include "slipring/base/random.h"
#include "slipring/lab/analysis/balance.h"
#include "slipring/lab/analysis/statistics.h"

namespace slipring::lab {
namespace {

// The nodes that a client knows, by index; never none.
std::vector<std::vector<size_t>> make_views(const KargerInput& input) {
  Random random(input.seed);
  std::vector<std::vector<size_t>> views(input.views);
  for (auto& view : views) {
    while (view.empty()) {
      for (size_t n = 0; n < input.members.size(); ++n) {
        if (random.chance(input.view_share)) view.push_back(n);
      }
    }
  }
  return views;
}

std::vector<Member> members_of(const KargerInput& input, const std::vector<size_t>& view) {
  std::vector<Member> members;
  for (const size_t n : view) members.push_back(input.members[n]);
  return members;
}

// Keys that go elsewhere than to the node that joined, as a share of those that move.
Result<double> disorder(const SchemeSpec& spec, const KargerInput& input, std::span<const std::string_view> keys) {
  std::vector<Member> fewer(input.members.begin(), input.members.end() - 1);
  SLIPRING_ASSIGN(const auto before, make_scheme(spec, fewer));
  SLIPRING_ASSIGN(const auto after, make_scheme(spec, input.members));
  std::vector<NodeIndex> old_owners(keys.size());
  std::vector<NodeIndex> new_owners(keys.size());
  before->owners(keys, old_owners);
  after->owners(keys, new_owners);
  double wrong = 0;
  for (size_t i = 0; i < keys.size(); ++i)
    wrong += old_owners[i] != new_owners[i] && new_owners[i] != fewer.size() ? 1 : 0;
  return wrong / static_cast<double>(keys.size());
}

struct Seen {
  double spread_mean = 0;
  double spread_max = 0;
  double load_max = 0;  // different keys that a node gets over all views, by its fair share
};

Result<Seen> look_through(const SchemeSpec& spec, const KargerInput& input, std::span<const std::string_view> keys) {
  std::vector<std::set<size_t>> owners_of_key(keys.size());
  for (const auto& view : make_views(input)) {
    SLIPRING_ASSIGN(const auto scheme, make_scheme(spec, members_of(input, view)));
    std::vector<NodeIndex> owners(keys.size());
    scheme->owners(keys, owners);
    for (size_t i = 0; i < keys.size(); ++i) {
      if (owners[i] != kNoNode) owners_of_key[i].insert(view[owners[i]]);
    }
  }
  Seen seen;
  std::vector<double> keys_of_node(input.members.size());
  for (const auto& owners : owners_of_key) {
    seen.spread_mean += static_cast<double>(owners.size());
    seen.spread_max = std::max(seen.spread_max, static_cast<double>(owners.size()));
    for (const size_t n : owners) keys_of_node[n] += 1;
  }
  const auto count = static_cast<double>(keys.size());
  seen.spread_mean /= count;
  const std::vector<double> fair = fair_shares(input.members);
  for (size_t n = 0; n < keys_of_node.size(); ++n) {
    if (fair[n] > 0) seen.load_max = std::max(seen.load_max, keys_of_node[n] / (count * fair[n]));
  }
  return seen;
}

}  // namespace

double theory_key_spread(uint64_t views, double f) {
  double sum = 0;
  double owner = f;  // probability that the k-th node clockwise is the owner in one view
  for (int k = 0; k < 10'000 && owner > 1e-12; ++k) {
    sum += 1 - std::pow(1 - owner, static_cast<double>(views));
    owner *= 1 - f;
  }
  return sum;
}

Result<Report> analyse_karger(const KargerInput& input, const KeySet& set) {
  if (input.members.size() < 2) return fail(Code::kInvalidArgument, "two nodes or more are needed");
  Report report;
  report.title = fmt::format("Karger's properties over {} nodes, {} views of {:.0f} % of them, {}",
                             input.members.size(), input.views, input.view_share * 100, set.origin);
  ReportTable table{"properties",
                    "Properties",
                    {{"scheme", "scheme"},
                     {"balance_stdev", "balance: stdev", Unit::kShare},
                     {"balance_max", "max/fair", Unit::kFactor},
                     {"disorder", "monotonicity: keys moved between old nodes", Unit::kShare},
                     {"spread_mean", "spread: owners of a key", Unit::kNumber},
                     {"spread_max", "largest", Unit::kCount},
                     {"load_max", "load: most keys of a node", Unit::kFactor}},
                    {}};
  const double theory = theory_key_spread(input.views, input.view_share);
  Plot plot{"Owners of one key over all views",          Plot::Kind::kBars, "scheme", "different nodes", false, {},
            {{"measured", {}}, {"theory of a ring", {}}}};
  const std::vector<std::string_view> keys = set.names();
  const std::vector<double> fair = fair_shares(input.members);
  for (const SchemeSpec& spec : input.specs) {
    SLIPRING_ASSIGN(const auto scheme, make_scheme(spec, input.members));
    std::vector<NodeIndex> owners(keys.size());
    scheme->owners(keys, owners);
    std::vector<double> loads(input.members.size());
    for (const NodeIndex owner : owners) {
      if (owner != kNoNode) loads[owner] += 1;
    }
    const Spread spread = spread_of(loads, fair);
    SLIPRING_ASSIGN(const double wrong, disorder(spec, input, keys));
    SLIPRING_ASSIGN(const Seen seen, look_through(spec, input, keys));
    table.add({spec.name, spread.stdev, spread.max, wrong, seen.spread_mean, seen.spread_max, seen.load_max});
    const auto x = static_cast<double>(plot.labels.size());
    plot.series[0].points.emplace_back(x, seen.spread_mean);
    plot.series[1].points.emplace_back(x, theory);
    plot.labels.push_back(spec.name);
  }
  report.plots.push_back(std::move(plot));
  report.tables.push_back(std::move(table));
  report.notes.push_back(
      fmt::format("Theory for a ring: a key has {:.3f} owners in {} views on average (the k-th node clockwise is one "
                  "with probability "
                  "f (1 - f)^(k - 1)), and no key moves between old nodes.",
                  theory, input.views));
  return report;
}

}  // namespace slipring::lab
