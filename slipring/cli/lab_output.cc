#include "slipring/cli/lab_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>

#include "slipring/cli/text.h"

namespace slipring::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kRowsShown = 12;  // of a table, to people

std::string human(double value, lab::Unit unit) {
  switch (unit) {
    case lab::Unit::kText:
    case lab::Unit::kNumber:
      return fmt::format("{:.3f}", value);
    case lab::Unit::kCount:
      return human_count(static_cast<uint64_t>(std::max(0.0, value + 0.5)));
    case lab::Unit::kShare:
      return human_share(value);
    case lab::Unit::kFactor:
      return fmt::format("{:.3f}x", value);
    case lab::Unit::kBytes:
      return human_bytes(static_cast<uint64_t>(std::max(0.0, value + 0.5)));
    case lab::Unit::kNanos:
      return fmt::format("{:.1f} ns", value);
    case lab::Unit::kMillis:
      return human_duration(static_cast<int64_t>(value + 0.5));
    case lab::Unit::kPerSecond:
      return fmt::format("{}/s", human_count(static_cast<uint64_t>(std::max(0.0, value + 0.5))));
  }
  return {};
}

std::string text_of(const lab::ReportTable& table) {
  std::vector<std::string> head;
  for (const lab::Column& c : table.columns) head.push_back((c.unit == lab::Unit::kText ? "" : ">") + c.title);
  Table out(head);
  const size_t shown = std::min(table.rows.size(), kRowsShown);
  for (const auto& row : std::span(table.rows).first(shown)) {
    std::vector<std::string> cells;
    for (size_t i = 0; i < row.size(); ++i) {
      const auto* text = std::get_if<std::string>(&row[i]);
      cells.push_back(text != nullptr ? printable(*text) : human(std::get<double>(row[i]), table.columns[i].unit));
    }
    out.add(std::move(cells));
  }
  const size_t left = table.rows.size() - shown;
  return fmt::format("{}\n{}{}", table.title, out.text("  "),
                     left == 0 ? "" : fmt::format("  ... {} more rows; --csv and --json have them all\n", left));
}

// Quoted where a reader of CSV needs it (RFC 4180).
std::string csv_cell(const lab::Cell& cell) {
  const auto* text = std::get_if<std::string>(&cell);
  if (text == nullptr) return fmt::format("{}", std::get<double>(cell));
  if (text->find_first_of(",\"\r\n") == std::string::npos) return *text;
  std::string quoted = "\"";
  for (const char c : *text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

}  // namespace

std::string text_of(const lab::Report& report) {
  std::string text = report.title + "\n";
  for (const lab::ReportTable& table : report.tables) text += "\n" + text_of(table);
  if (!report.notes.empty()) text += "\n";
  for (const std::string& note : report.notes) text += note + "\n";
  return text;
}

std::string json_of(const lab::Report& report) {
  Json tables = Json::object();
  for (const lab::ReportTable& table : report.tables) {
    Json rows = Json::array();
    for (const auto& row : table.rows) {
      Json object = Json::object();
      for (size_t i = 0; i < row.size(); ++i) {
        std::visit([&](const auto& value) { object[table.columns[i].key] = value; }, row[i]);
      }
      rows.push_back(std::move(object));
    }
    tables[table.key] = std::move(rows);
  }
  const Json all = {{"title", report.title}, {"notes", report.notes}, {"tables", std::move(tables)}};
  return all.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string csv_of(const lab::Report& report) {
  std::string text;
  for (const lab::ReportTable& table : report.tables) {
    if (!text.empty()) text += "\n";
    text += "table";
    for (const lab::Column& c : table.columns) text += "," + c.key;
    text += "\n";
    for (const auto& row : table.rows) {
      text += table.key;
      for (const lab::Cell& cell : row) text += "," + csv_cell(cell);
      text += "\n";
    }
  }
  return text;
}

}  // namespace slipring::cli
