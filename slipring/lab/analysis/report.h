// What an analysis of the lab answers: tables, plots and remarks, the same for every analysis, so that text, JSON, CSV
// and SVG are written in one place each (cli/lab_output.h, svg.h). Thread-safety: values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace slipring::lab {

// How a column's numbers are shown to people; JSON and CSV carry the bare number in the unit named here.
enum class Unit : uint8_t {
  kText,
  kCount,     // whole numbers
  kNumber,    // three decimals
  kShare,     // 0 to 1, shown as per cent
  kFactor,    // shown as "1.23x"
  kBytes,     // bytes
  kNanos,     // nanoseconds
  kMillis,    // milliseconds
  kPerSecond  // a second
};

using Cell = std::variant<std::string, double>;

struct Column {
  std::string key;    // in JSON and CSV: snake_case
  std::string title;  // for people
  Unit unit = Unit::kText;
};

struct ReportTable {
  std::string key;
  std::string title;
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;

  // REQUIRES: as many cells as columns.
  void add(std::vector<Cell> row) { rows.push_back(std::move(row)); }
};

struct Series {
  std::string name;
  std::vector<std::pair<double, double>> points;
};

struct Plot {
  enum class Kind : uint8_t { kLines, kBars };  // bars: one group for each label
  std::string title;
  Kind kind = Kind::kLines;
  std::string x_axis;  // with its unit
  std::string y_axis;
  bool log_x = false;               // REQUIRES: every x above 0
  std::vector<std::string> labels;  // kBars: of x = 0, 1, 2, ...
  std::vector<Series> series;
};

struct Report {
  std::string title;
  std::vector<std::string> notes;  // full sentences
  std::vector<ReportTable> tables;
  std::vector<Plot> plots;
};

}  // namespace slipring::lab
