// A strict reader of Prometheus' text format, for tests of whatever exposes it: ours, over HTTP, from a running
// program.
//
// Invariant: what it accepts, Prometheus does. Thread-safety: pure functions.
#pragma once

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "slipring/base/result.h"

namespace slipring::metrics::testing {

class ExpositionReader {
 public:
  // The value of every sample, by its text up to the blank: `name{a="1"}`. kInvalidArgument with the line that is
  // wrong.
  static Result<std::map<std::string, double>> read(std::string_view text) {
    ExpositionReader reader;
    if (text.empty()) return reader.samples_;
    if (text.back() != '\n') return reader.wrong("the last line must end");
    while (!text.empty()) {
      reader.line_ = text.substr(0, text.find('\n'));
      text.remove_prefix(reader.line_.size() + 1);
      SLIPRING_TRY(reader.line_.starts_with('#') ? reader.comment() : reader.sample());
    }
    SLIPRING_TRY(reader.end_family());
    return reader.samples_;
  }

 private:
  tl::unexpected<Error> wrong(std::string_view why) const {
    return fail(Code::kInvalidArgument, fmt::format("{}: \"{}\"", why, line_));
  }
  static bool is_name(std::string_view name) {
    return !name.empty() &&
           name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") ==
               std::string_view::npos &&
           (name[0] < '0' || name[0] > '9');
  }

  // HELP and TYPE open a family, once, in this order.
  Status comment() {
    std::string_view rest = line_;
    const bool help = rest.starts_with("# HELP ");
    if (!help && !rest.starts_with("# TYPE ")) return wrong("no HELP and no TYPE");
    rest.remove_prefix(7);
    const std::string name(rest.substr(0, rest.find(' ')));
    if (!is_name(name) || name.size() == rest.size()) return wrong("bad name");
    const std::string_view value = rest.substr(name.size() + 1);
    if (help) {
      SLIPRING_TRY(end_family());
      if (!families_.insert(name).second) return wrong("the family occurs twice");
      if (value.empty()) return wrong("no help text");
      family_ = name;
      type_.clear();
      return {};
    }
    if (name != family_ || !type_.empty()) return wrong("TYPE without its HELP");
    if (value != "counter" && value != "gauge" && value != "histogram") return wrong("unknown type");
    type_ = value;
    return {};
  }

  Status sample() {
    const size_t name_end = line_.find_first_of("{ ");
    if (name_end == std::string_view::npos) return wrong("no value");
    const std::string_view name = line_.substr(0, name_end);
    SLIPRING_TRY(check_family(name));
    std::string_view rest = line_.substr(name_end);
    std::map<std::string, std::string> labels;
    if (rest[0] == '{') SLIPRING_TRY(read_labels(rest, labels));
    if (rest.empty() || rest[0] != ' ') return wrong("no blank before the value");
    SLIPRING_ASSIGN(const double value, read_number(rest.substr(1)));
    const std::string id(line_.substr(0, line_.size() - rest.size()));
    if (!samples_.emplace(id, value).second) return wrong("the sample occurs twice");
    if (type_ == "counter" && !(value >= 0)) return wrong("a counter is not negative");
    if (type_ == "histogram") return histogram_sample(name, std::move(labels), value);
    return {};
  }

  Status check_family(std::string_view name) const {
    if (type_.empty()) return wrong("sample without TYPE");
    if (type_ != "histogram" && name == family_) return {};
    for (const char* suffix : {"_bucket", "_sum", "_count"}) {
      if (type_ == "histogram" && name == family_ + suffix) return {};
    }
    return wrong("the sample is not of the family above it");
  }

  Status read_labels(std::string_view& rest, std::map<std::string, std::string>& labels) const {
    do {
      rest.remove_prefix(1);
      const size_t equals = rest.find("=\"");
      if (equals == std::string_view::npos || !is_name(rest.substr(0, equals))) return wrong("bad label name");
      std::string& value = labels[std::string(rest.substr(0, equals))];
      if (!value.empty()) return wrong("the label occurs twice");
      rest.remove_prefix(equals + 2);
      while (!rest.empty() && rest[0] != '"') {
        if (rest[0] == '\\' && (rest.size() < 2 || std::string_view("\\\"n").find(rest[1]) == std::string_view::npos)) {
          return wrong("bad escape");
        }
        const size_t n = rest[0] == '\\' ? 2 : 1;
        value += rest.substr(0, n);
        rest.remove_prefix(n);
      }
      if (rest.empty()) return wrong("the label does not end");
      rest.remove_prefix(1);
    } while (rest.starts_with(','));
    if (!rest.starts_with('}')) return wrong("the labels do not end");
    rest.remove_prefix(1);
    return {};
  }

  Result<double> read_number(std::string_view text) const {
    if (text == "+Inf") return HUGE_VAL;
    if (text == "-Inf") return -HUGE_VAL;
    if (text == "NaN") return std::nan("");
    double value = 0;
    const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
    if (end.ec != std::errc() || end.ptr != text.data() + text.size()) return wrong("no number");
    return value;
  }

  struct Series {
    double bound = -HUGE_VAL;
    double count = -1;  // of the last bucket
    bool has_sum = false;
    double total = -1;
  };

  Status histogram_sample(std::string_view name, std::map<std::string, std::string> labels, double value) {
    const auto le = labels.extract("le");
    std::string id;
    for (const auto& [label, text] : labels) id += label + "=" + text + ",";
    Series& series = series_[id];
    if (name.ends_with("_sum")) series.has_sum = true;
    if (name.ends_with("_count")) series.total = value;
    if (name.ends_with("_bucket") == le.empty()) return wrong("a bucket, and nothing else, has le");
    if (le.empty()) return {};
    SLIPRING_ASSIGN(const double bound, read_number(le.mapped()));
    if (bound <= series.bound || value < series.count) return wrong("bounds rise and counts do not fall");
    series.bound = bound;
    series.count = value;
    return {};
  }

  Status end_family() {
    for (const auto& [id, series] : series_) {
      if (series.bound != HUGE_VAL) return wrong("a histogram above ends without +Inf");
      if (!series.has_sum || series.total != series.count) return wrong("sum and count of a histogram above");
    }
    series_.clear();
    return {};
  }

  std::string_view line_;
  std::string family_;
  std::string type_;
  std::set<std::string> families_;
  std::map<std::string, Series> series_;
  std::map<std::string, double> samples_;
};

}  // namespace slipring::metrics::testing
