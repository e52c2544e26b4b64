// Text for people: aligned tables and numbers that can be read at a glance.
// Thread-safety: values and pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipring::cli {

// Columns as wide as their widest cell, two blanks apart, no blank at a line's end. Cells of a column whose head starts
// with '>' are set to the right (the '>' is not shown).
class Table {
 public:
  explicit Table(std::vector<std::string> head) : head_(std::move(head)) {}
  // REQUIRES: as many cells as the head has.
  void add(std::vector<std::string> row);
  bool empty() const { return rows_.empty(); }
  // Every line starts with `indent`. An empty table is an empty text.
  std::string text(std::string_view indent = "") const;

 private:
  std::vector<std::string> head_;
  std::vector<std::vector<std::string>> rows_;
};

std::string human_count(uint64_t count);                 // "1,234,567"
std::string human_count(std::optional<uint64_t> count);  // "-" if unknown
std::string human_bytes(uint64_t bytes);                 // "512 B", "1.5 KB", "12.3 MB"; factors of 1024
std::string human_bytes(std::optional<uint64_t> bytes);
std::string human_share(double share);                             // 0.2512 -> "25.12 %"
std::string human_duration(int64_t ms);                            // "250 ms", "1.5 s", "2 min 5 s", "3 h 2 min"
std::string human_micros(int64_t us);                              // "950 us", "12.3 ms", "1.5 s"
std::string human_rate(double per_second, std::string_view unit);  // "12,345 keys/s"
std::string human_time(int64_t wall_ms);                           // "2026-12-01 08:00:00 UTC"
// Bytes of a key for a terminal: printable ASCII and well-formed UTF-8 as they are, everything else as \xNN; cut after
// `max` bytes with "...".
std::string printable(std::string_view bytes, size_t max = 200);

}  // namespace slipring::cli
