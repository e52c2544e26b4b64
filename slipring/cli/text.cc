#include "slipring/cli/text.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>

#include "slipring/base/check.h"

namespace slipring::cli {
namespace {

// Characters as a terminal counts them, near enough: continuation bytes of UTF-8 take no place.
size_t width(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

// One decimal below 100, none above: "1.5", "12.3", "123".
std::string short_number(double value) {
  return value < 99.95 ? fmt::format("{:.1f}", value) : fmt::format("{:.0f}", value);
}

// Length of the well-formed UTF-8 character at the start of `text`; 0 if there is none or it is a control character.
size_t utf8_length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const size_t length = byte(0) < 0x80         ? 1
                        : (byte(0) >> 5) == 6  ? 2
                        : (byte(0) >> 4) == 14 ? 3
                        : (byte(0) >> 3) == 30 ? 4
                                               : 0;
  if (length == 0 || length > text.size()) return 0;
  if (length == 1) return byte(0) >= 0x20 && byte(0) != 0x7f ? 1 : 0;
  uint32_t point = byte(0) & (0xffu >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    point = (point << 6) | (byte(i) & 0x3f);
  }
  constexpr uint32_t kLeast[] = {0, 0, 0xa0, 0x800, 0x10000};
  const bool surrogate = point >= 0xd800 && point <= 0xdfff;
  // Directional marks could make a terminal show another key than the one that is meant.
  const bool deceptive = (point >= 0x200b && point <= 0x200f) || (point >= 0x2028 && point <= 0x202e) ||
                         (point >= 0x2066 && point <= 0x2069);
  return point < kLeast[length] || point > 0x10ffff || surrogate || deceptive ? 0 : length;
}

}  // namespace

void Table::add(std::vector<std::string> row) {
  SLIPRING_CHECK(row.size() == head_.size(), "a row has one cell a column");
  rows_.push_back(std::move(row));
}

std::string Table::text(std::string_view indent) const {
  if (rows_.empty()) return {};
  std::vector<size_t> widths;
  std::vector<bool> right;
  std::vector<std::string> head = head_;
  for (size_t c = 0; c < head.size(); ++c) {
    right.push_back(head[c].starts_with('>'));
    if (right[c]) head[c].erase(0, 1);
    widths.push_back(width(head[c]));
    for (const auto& row : rows_) widths[c] = std::max(widths[c], width(row[c]));
  }
  std::string out;
  const auto line = [&](const std::vector<std::string>& row) {
    std::string text(indent);
    for (size_t c = 0; c < row.size(); ++c) {
      const std::string pad(widths[c] - width(row[c]), ' ');
      text += fmt::format("{}{}{}", c == 0 ? "" : "  ", right[c] ? pad + row[c] : row[c] + pad, "");
    }
    text.resize(text.find_last_not_of(' ') + 1);
    out += text + "\n";
  };
  line(head);
  for (const auto& row : rows_) line(row);
  return out;
}

std::string human_count(uint64_t count) {
  std::string text = fmt::format("{}", count);
  for (size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
  return text;
}
std::string human_count(std::optional<uint64_t> count) {
  return count ? human_count(*count) : "-";
}

std::string human_bytes(uint64_t bytes) {
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes);
  std::string_view unit;
  for (const std::string_view next : {"KB", "MB", "GB", "TB", "PB", "EB"}) {
    if (value < 1023.5 && !unit.empty()) break;
    value /= 1024;
    unit = next;
  }
  return fmt::format("{} {}", short_number(value), unit);
}
std::string human_bytes(std::optional<uint64_t> bytes) {
  return bytes ? human_bytes(*bytes) : "-";
}

std::string human_share(double share) {
  return fmt::format("{:.2f} %", share * 100);
}

std::string human_duration(int64_t ms) {
  if (ms < 1000) return fmt::format("{} ms", ms);
  if (ms < 60'000) return fmt::format("{:.1f} s", static_cast<double>(ms) / 1000);
  const int64_t s = ms / 1000;
  if (s < 3600) return s % 60 == 0 ? fmt::format("{} min", s / 60) : fmt::format("{} min {} s", s / 60, s % 60);
  return s % 3600 < 60 ? fmt::format("{} h", s / 3600) : fmt::format("{} h {} min", s / 3600, s % 3600 / 60);
}

std::string human_micros(int64_t us) {
  if (us < 1000) return fmt::format("{} us", us);
  if (us < 1'000'000) return fmt::format("{} ms", short_number(static_cast<double>(us) / 1000));
  return human_duration(us / 1000);
}

std::string human_rate(double per_second, std::string_view unit) {
  if (unit == "bytes") return human_bytes(static_cast<uint64_t>(std::max(0.0, per_second))) + "/s";
  return fmt::format("{} {}/s", human_count(static_cast<uint64_t>(std::max(0.0, per_second))), unit);
}

std::string human_time(int64_t wall_ms) {
  return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(static_cast<std::time_t>(wall_ms / 1000)));
}

std::string printable(std::string_view bytes, size_t max) {
  std::string out;
  const std::string_view shown = bytes.substr(0, max);
  for (size_t i = 0; i < shown.size();) {
    const size_t length = utf8_length(shown.substr(i));
    if (length == 0 || shown[i] == '\\') {
      out += shown[i] == '\\' ? std::string("\\\\") : fmt::format("\\x{:02x}", static_cast<unsigned char>(shown[i]));
      ++i;
    } else {
      out += shown.substr(i, length);
      i += length;
    }
  }
  return bytes.size() > max ? out + "..." : out;
}

}  // namespace slipring::cli
