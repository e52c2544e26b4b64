// Plots as one SVG document, stacked, for a browser or a paper: axes with ticks and units, a legend where there is more
// than one series. No script, no link, no font of its own.
// Thread-safety: pure functions.
#pragma once

#include <span>
#include <string>

#include "slipring/lab/analysis/report.h"

namespace slipring::lab {

std::string svg_of(std::span<const Plot> plots);

// Round numbers that cover [low, high], about `count` of them, ascending. REQUIRES: low < high, both finite.
std::vector<double> axis_ticks(double low, double high, size_t count);

}  // namespace slipring::lab
