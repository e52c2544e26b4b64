#include "slipring/lab/analysis/cascade.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "slipring/lab/analysis/rings.h"
#include "slipring/placement/ring.h"

namespace slipring::lab {
namespace {

constexpr uint64_t kNodesMax = 10'000;

struct CascadeToken {
  uint64_t point;
  uint32_t node;
};

std::string name_of(size_t node) {
  return fmt::format("n{}", node + 1);
}

std::vector<CascadeToken> tokens_of(const CascadeInput& input, uint64_t vnodes) {
  std::vector<CascadeToken> tokens;
  for (uint32_t n = 0; n < input.nodes; ++n) {
    for (uint32_t j = 0; j < vnodes; ++j) tokens.push_back({ring_token(name_of(n), j, input.seed), n});
  }
  std::sort(tokens.begin(), tokens.end(),
            [](const CascadeToken& a, const CascadeToken& b) { return a.point < b.point; });
  return tokens;
}

// Loads by node, relative to the mean of all nodes; the range of a node that is down goes to the next that is up.
std::vector<double> loads_of(const std::vector<CascadeToken>& tokens, const std::vector<bool>& up) {
  std::vector<double> loads(up.size());
  // The first token clockwise of a node that is up, walking backwards round the ring twice.
  uint32_t taker = UINT32_MAX;
  for (size_t step = 2 * tokens.size(); step > 0; --step) {
    const size_t i = (step - 1) % tokens.size();
    if (up[tokens[i].node]) taker = tokens[i].node;
    if (step > tokens.size() || taker == UINT32_MAX) continue;
    const uint64_t before = tokens[(i + tokens.size() - 1) % tokens.size()].point;
    const uint64_t range = tokens[i].point - before;
    loads[taker] += (tokens.size() == 1 ? 1 : static_cast<double>(range) * 0x1.0p-64) * static_cast<double>(up.size());
  }
  return loads;
}

}  // namespace

CascadeOutcome run_cascade(const CascadeInput& input, uint64_t vnodes) {
  const std::vector<CascadeToken> tokens = tokens_of(input, vnodes);
  std::vector<bool> up(input.nodes, true);
  std::vector<double> loads = loads_of(tokens, up);
  CascadeOutcome out;
  const auto largest = std::max_element(loads.begin(), loads.end());
  out.largest_before = *largest;
  size_t dead = static_cast<size_t>(largest - loads.begin());
  for (size_t n = 0; n < input.nodes; ++n) {
    if (name_of(n) == input.first) dead = n;
  }
  std::vector<size_t> falling = {dead};
  while (!falling.empty()) {
    std::vector<std::string> names;
    for (const size_t n : falling) {
      up[n] = false;
      names.push_back(name_of(n));
    }
    out.falls.push_back(std::move(names));
    const std::vector<double> before = std::exchange(loads, loads_of(tokens, up));
    falling.clear();
    for (size_t n = 0; n < input.nodes; ++n) {
      if (!up[n]) continue;
      if (out.falls.size() == 1 && loads[n] > before[n] * (1 + 1e-12)) ++out.takers;
      if (loads[n] > input.capacity) falling.push_back(n);
    }
  }
  out.survivors = static_cast<size_t>(std::count(up.begin(), up.end(), true));
  return out;
}

Result<Report> analyse_cascade(const CascadeInput& input) {
  if (input.nodes < 2 || input.nodes > kNodesMax)
    return fail(Code::kInvalidArgument, fmt::format("nodes: must be 2 to {}", kNodesMax));
  if (!(input.capacity >= 1 && input.capacity <= 1000))
    return fail(Code::kInvalidArgument, "capacity: must be 1 to 1000 times the mean load");
  bool known = input.first.empty();
  for (size_t n = 0; n < input.nodes; ++n) known |= name_of(n) == input.first;
  if (!known)
    return fail(Code::kInvalidArgument, fmt::format("node {}: there are n1 to n{}", input.first, input.nodes));
  Report report;
  report.title =
      fmt::format("Cascade: {} nodes that can carry {} times the mean load, one dies", input.nodes, input.capacity);
  ReportTable table{"cascade",
                    "Who falls",
                    {{"vnodes", "vnodes", Unit::kCount},
                     {"largest", "largest load before", Unit::kFactor},
                     {"takers", "its load falls on", Unit::kCount},
                     {"theory_takers", "in theory", Unit::kNumber},
                     {"rounds", "rounds", Unit::kCount},
                     {"survivors", "left", Unit::kCount},
                     {"falls", "who falls after whom"}},
                    {}};
  Plot plot{"Nodes that are left after each round", Plot::Kind::kLines, "round", "nodes", false, {}, {}};
  for (const uint64_t vnodes : input.vnodes) {
    if (vnodes < 1 || vnodes * input.nodes > kTokensMax) {
      return fail(Code::kInvalidArgument, fmt::format("vnodes {}: must be 1 to {} in all", vnodes, kTokensMax));
    }
    const CascadeOutcome out = run_cascade(input, vnodes);
    std::vector<std::string> rounds;
    Series series{fmt::format("{} vnodes", vnodes), {{0, static_cast<double>(input.nodes)}}};
    double left = static_cast<double>(input.nodes);
    for (const auto& names : out.falls) {
      rounds.push_back(fmt::format(
          "{}", fmt::join(names.begin(),
                          names.begin() + static_cast<std::ptrdiff_t>(std::min<size_t>(names.size(), 20)), " ")));
      if (names.size() > 20) rounds.back() += fmt::format(" and {} more", names.size() - 20);
      left -= static_cast<double>(names.size());
      series.points.emplace_back(static_cast<double>(series.points.size()), left);
    }
    table.add({static_cast<double>(vnodes), out.largest_before, static_cast<double>(out.takers),
               theory_takers(input.nodes, vnodes), static_cast<double>(out.falls.size()),
               static_cast<double>(out.survivors), fmt::format("{}", fmt::join(rounds, " > "))});
    plot.series.push_back(std::move(series));
  }
  report.tables.push_back(std::move(table));
  report.plots.push_back(std::move(plot));
  return report;
}

}  // namespace slipring::lab
