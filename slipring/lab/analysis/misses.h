// What a change of the servers of a cache does to the origin behind it: misses, failed fills, time to recover, and a
// year of changes, with and without warming. A fluid model in steps of one second; keys are asked for alike, or by
// Zipf's law. Thread-safety: pure functions.
#pragma once

#include <string>
#include <vector>

#include "slipring/base/result.h"
#include "slipring/lab/analysis/report.h"

namespace slipring::lab {

struct MissesInput {
  double lookups_per_second = 500'000;
  double hit_ratio = 0.95;           // before the change, 0 to 1
  double required_hit_ratio = 0.95;  // what the application was promised
  uint64_t servers = 100;            // before
  int64_t change = -1;               // servers that leave (below 0) or join
  double origin_capacity = 50'000;   // lookups a second
  double keys = 10'000'000;          // that are cached
  bool zipf = false;                 // popularity of key i in proportion to 1 / i
  double changes_per_week = 3.5;
  double lookup_budget_ms = 0.1;  // for finding the server of a key
  double lookup_ms = 0;           // what it takes; 0: not known
};

// What happens after one change, by scheme and with or without warming.
struct MissesOutcome {
  std::string scheme;
  double moved = 0;               // share of the keys
  double origin_first = 0;        // lookups a second that reach for the origin in the first second
  double hit_ratio_first = 0;     // in the first second
  double failed_fills = 0;        // lookups that the origin could not serve
  double seconds_to_recover = 0;  // until the origin's load is within 1 % of before; kNeverRecovers if not in a day
  double year_below_hours = 0;    // hours a year below the required hit ratio, by `changes_per_week`
  bool passes = false;            // never below it (less than a thousandth is rounding), no failed fill
  std::vector<double> origin;     // by second, the first ten minutes at most
};
inline constexpr double kNeverRecovers = 86'400;

// kInvalidArgument: a figure outside of its range, or a change that leaves no server.
Result<std::vector<MissesOutcome>> simulate_misses(const MissesInput& input);
Result<Report> analyse_misses(const MissesInput& input);

}  // namespace slipring::lab
