#include "slipring/metrics/exposition.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "slipring/base/check.h"

namespace slipring::metrics {
namespace {

bool is_name(std::string_view name) {
  const auto ok = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c >= '0' && c <= '9');
  };
  return !name.empty() && (name[0] < '0' || name[0] > '9') && std::all_of(name.begin(), name.end(), ok);
}

// Help escapes backslash and line feed, a label's value the quote as well.
std::string escape(std::string_view text, bool quote) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || (quote && c == '"')) out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out;
}

// `a="1",b="2"` without braces, in the order of the names, so that equal sets are equal text.
std::string render(Labels labels) {
  std::sort(labels.begin(), labels.end());
  std::string out;
  for (const auto& [name, value] : labels) {
    SLIPRING_CHECK(is_name(name), "labels are named in our code");
    out += fmt::format("{}{}=\"{}\"", out.empty() ? "" : ",", name, escape(value, true));
  }
  return out;
}

std::string number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  return fmt::format("{}", value);
}

std::string_view kind_name(Kind kind) {
  switch (kind) {
    case Kind::kCounter:
      return "counter";
    case Kind::kGauge:
      return "gauge";
    case Kind::kHistogram:
      return "histogram";
  }
  return "untyped";
}

void write_sample(std::string& out, std::string_view name, std::string_view labels, std::string_view value) {
  out += name;
  if (!labels.empty()) fmt::format_to(std::back_inserter(out), "{{{}}}", labels);
  fmt::format_to(std::back_inserter(out), " {}\n", value);
}

void write_distribution(std::string& out, const std::string& name, const std::string& labels, const HistogramData& data,
                        double unit) {
  const std::string separator = labels.empty() ? "" : ",";
  const auto bucket = [&](std::string_view bound, uint64_t count) {
    write_sample(out, name + "_bucket", fmt::format("{}{}le=\"{}\"", labels, separator, bound),
                 fmt::format("{}", count));
  };
  // The buckets decide the total too, so the text is consistent whatever the writer does meanwhile.
  uint64_t total = 0;
  for (const uint64_t n : data.buckets) total += n;
  for (int power = kFirstBoundPower; power <= kLastBoundPower; ++power) {
    const double bound = static_cast<double>((uint64_t{1} << power) - 1) * unit;
    bucket(number(bound), data.count_below_power(power));
  }
  bucket("+Inf", total);
  write_sample(out, name + "_sum", labels, number(static_cast<double>(data.sum) * unit));
  write_sample(out, name + "_count", labels, fmt::format("{}", total));
}

}  // namespace

Exposition::Family& Exposition::family(Kind kind, std::string_view name, std::string_view help) {
  SLIPRING_CHECK(is_name(name), "metrics are named in our code");
  SLIPRING_CHECK((kind == Kind::kCounter) == name.ends_with("_total"), "a counter, and nothing else, ends in _total");
  const auto [at, fresh] = families_.try_emplace(std::string(name));
  if (fresh) {
    at->second.kind = kind;
    at->second.help = help;
  }
  SLIPRING_CHECK(at->second.kind == kind, "a metric has one kind");
  return at->second;
}

void Exposition::add(Kind kind, std::string_view name, std::string_view help, const Labels& labels, double value) {
  SLIPRING_CHECK(kind != Kind::kHistogram, "a histogram is no single value");
  family(kind, name, help).values[render(labels)] += value;
}

void Exposition::add(std::string_view name, std::string_view help, const Labels& labels, const HistogramData& data,
                     double unit) {
  Distribution& distribution = family(Kind::kHistogram, name, help).distributions[render(labels)];
  distribution.data.merge(data);
  distribution.unit = unit;
}

std::string Exposition::text() const {
  std::string out;
  for (const auto& [name, family] : families_) {
    fmt::format_to(std::back_inserter(out), "# HELP {} {}\n# TYPE {} {}\n", name, escape(family.help, false), name,
                   kind_name(family.kind));
    for (const auto& [labels, value] : family.values) write_sample(out, name, labels, number(value));
    for (const auto& [labels, distribution] : family.distributions) {
      write_distribution(out, name, labels, distribution.data, distribution.unit);
    }
  }
  return out;
}

}  // namespace slipring::metrics
