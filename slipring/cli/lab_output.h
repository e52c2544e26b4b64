// Reports of the lab as text for people, as JSON, as CSV and as an SVG file.
// Thread-safety: pure functions.
#pragma once

#include <string>

#include "slipring/base/result.h"
#include "slipring/lab/analysis/report.h"

namespace slipring::cli {

std::string text_of(const lab::Report& report);
// {"title", "notes": [...], "tables": {KEY: [{COLUMN: value}]}}; numbers in the unit of report.h.
std::string json_of(const lab::Report& report);
// A header and the rows of each table, the table's key first; an empty line between tables.
std::string csv_of(const lab::Report& report);

}  // namespace slipring::cli
