// Figures of samples.
// Thread-safety: pure functions.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

namespace slipring::lab {

// 0 of nothing.
inline double mean_of(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

inline double root_mean_square(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return values.empty() ? 0 : std::sqrt(sum / static_cast<double>(values.size()));
}

// By the nearest rank; `part` 0 to 1. REQUIRES: values is not empty.
inline double percentile_of(std::vector<double> values, double part) {
  const auto rank = static_cast<size_t>(std::ceil(part * static_cast<double>(values.size())));
  const size_t at = std::min(values.size() - 1, rank == 0 ? 0 : rank - 1);
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end());
  return values[at];
}

// How a load is spread over nodes that should each have `fair` (a share of the sum): standard deviation, largest and
// smallest, relative to what is fair.
struct Spread {
  double stdev = 0;
  double max = 0;
  double min = 0;
};

// Nodes with a fair share of 0 do not count.
inline Spread spread_of(std::span<const double> loads, std::span<const double> fair) {
  double sum = 0;
  for (const double load : loads) sum += load;
  std::vector<double> deviations;
  Spread spread;
  for (size_t i = 0; i < loads.size(); ++i) {
    if (fair[i] <= 0 || sum <= 0) continue;
    const double ratio = loads[i] / (sum * fair[i]);
    spread.max = deviations.empty() ? ratio : std::max(spread.max, ratio);
    spread.min = deviations.empty() ? ratio : std::min(spread.min, ratio);
    deviations.push_back(ratio - 1);
  }
  spread.stdev = root_mean_square(deviations);
  return spread;
}

}  // namespace slipring::lab
