// Prometheus' text format (version 0.0.4), built family by family: samples of one family stand together under one HELP
// and TYPE, families in the order of their names, whoever added them and when.
//
// Invariant: the text is valid: names are checked (a wrong one is a programmer's error), label values and help escaped.
// Thread-safety: one owner.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "slipring/metrics/histogram.h"

namespace slipring::metrics {

enum class Kind : uint8_t { kCounter, kGauge, kHistogram };

using Labels = std::vector<std::pair<std::string, std::string>>;

inline constexpr std::string_view kContentType = "text/plain; version=0.0.4; charset=utf-8";

// Histograms are exposed with the bounds 2^k - 1, k from the first to the last.
inline constexpr int kFirstBoundPower = 4;
inline constexpr int kLastBoundPower = 30;

class Exposition {
 public:
  // Values of the same name and labels add up. REQUIRES: a family keeps its kind; a counter's name ends in _total.
  void add(Kind kind, std::string_view name, std::string_view help, const Labels& labels, double value);
  // `unit` is the exposed unit of one recorded unit: 1e-6 shows microseconds as seconds.
  void add(std::string_view name, std::string_view help, const Labels& labels, const HistogramData& data,
           double unit = 1);

  std::string text() const;

 private:
  struct Distribution {
    HistogramData data;
    double unit = 1;
  };
  struct Family {
    Kind kind = Kind::kCounter;
    std::string help;
    std::map<std::string, double> values;               // by rendered labels
    std::map<std::string, Distribution> distributions;  // the same
  };
  Family& family(Kind kind, std::string_view name, std::string_view help);

  std::map<std::string, Family, std::less<>> families_;
};

}  // namespace slipring::metrics
