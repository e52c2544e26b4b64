#include "slipring/lab/analysis/misses.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "slipring/lab/analysis/moves.h"

namespace slipring::lab {
namespace {

constexpr size_t kSecondsPlotted = 600;
constexpr double kWeeks = 52;
constexpr double kRounding = 1e-3;

// Keys that are asked for alike.
struct Class {
  double keys = 0;
  double popularity = 0;  // share of the cached lookups that they get together
  double cold = 0;        // share of them that is not on its server
};

// Ranks in doubling steps: inside a step popularity varies by two at most.
std::vector<Class> classes_of(const MissesInput& input) {
  if (!input.zipf) return {{input.keys, 1, 0}};
  std::vector<Class> classes;
  double sum = 0;
  for (double first = 1; first <= input.keys; first *= 2) {
    const double last = std::min(first * 2 - 1, input.keys);
    const double weight = std::log((last + 0.5) / (first - 0.5));
    classes.push_back({last - first + 1, weight, 0});
    sum += weight;
  }
  for (Class& c : classes) c.popularity /= sum;
  return classes;
}

// One second: what reaches for the origin, what of it fails, and the keys that became warm.
struct Second {
  double demand = 0;
  double failed = 0;
  double hit_ratio = 0;
};

Second pass_second(const MissesInput& input, std::vector<Class>& classes) {
  const double cached = input.lookups_per_second * input.hit_ratio;
  double cold_lookups = 0;
  for (const Class& c : classes) cold_lookups += cached * c.popularity * c.cold;
  Second second;
  second.demand = input.lookups_per_second - cached + cold_lookups;
  const double served = std::min(1.0, input.origin_capacity / second.demand);
  second.failed = second.demand * (1 - served);
  second.hit_ratio = (cached - cold_lookups) / input.lookups_per_second;
  // Of a class, a cold key stays cold if none of its lookups is served: Poisson arrivals.
  for (Class& c : classes) c.cold *= std::exp(-cached * c.popularity / c.keys * served);
  return second;
}

MissesOutcome simulate(const MissesInput& input, const std::string& scheme, double moved, bool warm) {
  MissesOutcome out;
  out.scheme = scheme;
  out.moved = moved;
  std::vector<Class> classes = classes_of(input);
  // Warmed, a lookup that misses is answered by the server that had the key, so no key is cold.
  for (Class& c : classes) c.cold = warm ? 0 : moved;
  const double calm = input.lookups_per_second * (1 - input.hit_ratio);
  double below = 0;
  out.seconds_to_recover = kNeverRecovers;
  for (double t = 0; t < kNeverRecovers; ++t) {
    const Second second = pass_second(input, classes);
    if (t == 0) {
      out.origin_first = second.demand;
      out.hit_ratio_first = second.hit_ratio;
    }
    if (out.origin.size() < kSecondsPlotted) out.origin.push_back(second.demand);
    out.failed_fills += second.failed;
    if (second.hit_ratio < input.required_hit_ratio - kRounding) ++below;
    if (second.demand <= calm * 1.01 && out.origin.size() == kSecondsPlotted) {
      out.seconds_to_recover = std::min(out.seconds_to_recover, t);
      break;
    }
    if (second.demand <= calm * 1.01) out.seconds_to_recover = std::min(out.seconds_to_recover, t);
  }
  out.year_below_hours = below * input.changes_per_week * kWeeks / 3600;
  out.passes = below == 0 && out.failed_fills < 1;
  return out;
}

Status check(const MissesInput& input) {
  const auto bad = [](const char* what, const char* allowed) {
    return fail(Code::kInvalidArgument, fmt::format("{}: must be {}", what, allowed));
  };
  const auto share = [](double v) { return v >= 0 && v <= 1; };
  const auto amount = [](double v) { return v >= 1 && v <= 1e15; };
  if (!amount(input.lookups_per_second)) return bad("lookups a second", "1 to 1e15");
  if (!share(input.hit_ratio)) return bad("hit ratio", "0 to 1");
  if (!share(input.required_hit_ratio)) return bad("required hit ratio", "0 to 1");
  if (input.servers < 1 || input.servers > 1'000'000) return bad("servers", "1 to 1,000,000");
  if (input.change == 0) return bad("change", "servers that join (above 0) or leave (below 0)");
  if (input.change < -1'000'000 || input.change > 1'000'000) return bad("change", "-1,000,000 to 1,000,000");
  if (static_cast<int64_t>(input.servers) + input.change < 1) return bad("change", "one that leaves a server");
  if (!amount(input.origin_capacity)) return bad("origin capacity", "1 to 1e15 lookups a second");
  if (!amount(input.keys)) return bad("keys", "1 to 1e15");
  if (!(input.changes_per_week >= 0 && input.changes_per_week <= 1e6)) return bad("changes a week", "0 to 1,000,000");
  if (!(input.lookup_budget_ms > 0 && input.lookup_budget_ms <= 1e6))
    return bad("lookup budget", "above 0, to 1,000,000 ms");
  return {};
}

ReportTable outcome_table(const MissesInput& input, const std::vector<MissesOutcome>& outcomes) {
  ReportTable table{"misses",
                    "After one change",
                    {{"scheme", "scheme"},
                     {"moved", "keys moved", Unit::kShare},
                     {"origin", "origin, 1st second", Unit::kPerSecond},
                     {"times", "of before", Unit::kFactor},
                     {"hit_ratio", "hit ratio", Unit::kShare},
                     {"failed_fills", "failed fills", Unit::kCount},
                     {"recovery", "recovered after", Unit::kMillis},
                     {"year_below_hours", "hours a year below", Unit::kNumber},
                     {"verdict", "verdict"}},
                    {}};
  const double calm = input.lookups_per_second * (1 - input.hit_ratio);
  for (const MissesOutcome& o : outcomes) {
    table.add({o.scheme, o.moved, o.origin_first, calm > 0 ? o.origin_first / calm : 0, o.hit_ratio_first,
               o.failed_fills, o.seconds_to_recover * 1000, o.year_below_hours,
               std::string(o.passes ? "pass" : "fail")});
  }
  return table;
}

}  // namespace

Result<std::vector<MissesOutcome>> simulate_misses(const MissesInput& input) {
  SLIPRING_TRY(check(input));
  const auto before = static_cast<double>(input.servers);
  const double after = before + static_cast<double>(input.change);
  // A ring moves what the changed servers hold.
  const double ring = input.change < 0 ? 1 - after / before : 1 - before / after;
  const double modulo = modulo_moved_share(input.servers, static_cast<uint64_t>(after));
  std::vector<MissesOutcome> outcomes;
  outcomes.push_back(simulate(input, "hash mod n", modulo, false));
  outcomes.push_back(simulate(input, "ring", ring, false));
  outcomes.push_back(simulate(input, "hash mod n, warmed", modulo, true));
  outcomes.push_back(simulate(input, "ring, warmed", ring, true));
  return outcomes;
}

Result<Report> analyse_misses(const MissesInput& input) {
  SLIPRING_ASSIGN(const std::vector<MissesOutcome> outcomes, simulate_misses(input));
  Report report;
  report.title = fmt::format("Misses: {:.0f} lookups/s, {:.2f} % hits, {} servers, {:+} of them",
                             input.lookups_per_second, input.hit_ratio * 100, input.servers, input.change);
  const double calm = input.lookups_per_second * (1 - input.hit_ratio);
  report.notes.push_back(fmt::format("Before the change the origin serves {:.0f} lookups/s of the {:.0f} that it can.",
                                     calm, input.origin_capacity));
  report.notes.push_back(
      fmt::format("A year has {:.0f} such changes; a pass is never below {:.2f} % hits and no fill that "
                  "the origin refused.",
                  input.changes_per_week * kWeeks, input.required_hit_ratio * 100));
  if (input.lookup_ms > 0) {
    report.notes.push_back(fmt::format("Finding a key's server takes {:.6f} ms of a budget of {} ms: {}.",
                                       input.lookup_ms, input.lookup_budget_ms,
                                       input.lookup_ms <= input.lookup_budget_ms ? "pass" : "fail"));
  }
  report.tables.push_back(outcome_table(input, outcomes));
  Plot plot{"Load of the origin after the change",
            Plot::Kind::kLines,
            "seconds after the change",
            "lookups/s",
            false,
            {},
            {}};
  for (const MissesOutcome& o : outcomes) {
    Series series{o.scheme, {}};
    for (size_t t = 0; t < o.origin.size(); ++t) series.points.emplace_back(static_cast<double>(t), o.origin[t]);
    plot.series.push_back(std::move(series));
  }
  report.plots.push_back(std::move(plot));
  return report;
}

}  // namespace slipring::lab
