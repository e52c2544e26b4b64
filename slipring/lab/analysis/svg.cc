#include "slipring/lab/analysis/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace slipring::lab {
namespace {

constexpr double kWidth = 760;
constexpr double kHeight = 380;
constexpr double kLeft = 78;
constexpr double kRight = 24;
constexpr double kTop = 44;
constexpr double kBottom = 64;
constexpr double kLegendRow = 18;
constexpr size_t kTicks = 6;
// Told apart by people who do not see all colours (Okabe and Ito, 2008).
constexpr const char* kColours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"};

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (static_cast<unsigned char>(c) >= 0x20) {
      out += c;
    }
  }
  return out;
}

const char* colour(size_t i) {
  return kColours[i % std::size(kColours)];
}

// 1,200,000 -> "1.2M".
std::string short_number(double value) {
  const double size = std::abs(value);
  if (size >= 1e9) return fmt::format("{:.4g}G", value / 1e9);
  if (size >= 1e6) return fmt::format("{:.4g}M", value / 1e6);
  if (size >= 1e4) return fmt::format("{:.4g}k", value / 1e3);
  return fmt::format("{:.4g}", value);
}

struct Range {
  double low = 0;
  double high = 1;
};

class Drawing {
 public:
  Drawing(const Plot& plot, double top) : plot_(plot), top_(top) {
    x_ = plot.kind == Plot::Kind::kBars ? Range{-0.5, static_cast<double>(plot.labels.size()) - 0.5} : range_of(true);
    y_ = range_of(false);
    y_.low = std::min(y_.low, 0.0);
    if (y_.high <= y_.low) y_.high = y_.low + 1;
    y_ticks_ = axis_ticks(y_.low, y_.high, kTicks);
    y_.high = std::max(y_.high, y_ticks_.back());
  }

  static double legend_height(const Plot& plot) {
    return plot.series.size() > 1 ? kLegendRow * std::ceil(static_cast<double>(plot.series.size()) / 3) : 0;
  }
  static double height(const Plot& plot) { return kHeight + legend_height(plot); }

  std::string text() {
    out_ += fmt::format("<text x=\"{}\" y=\"{}\" font-size=\"15\" font-weight=\"bold\">{}</text>\n", kLeft, top_ + 24,
                        escaped(plot_.title));
    draw_axes();
    for (size_t i = 0; i < plot_.series.size(); ++i) {
      plot_.kind == Plot::Kind::kBars ? draw_bars(i) : draw_line(i);
    }
    draw_legend();
    return std::move(out_);
  }

 private:
  double place(double x) const { return plot_.log_x ? std::log10(x) : x; }
  double at_x(double x) const {
    const double low = plot_.kind == Plot::Kind::kBars ? x_.low : place(x_.low);
    const double high = plot_.kind == Plot::Kind::kBars ? x_.high : place(x_.high);
    const double share = high > low ? ((plot_.kind == Plot::Kind::kBars ? x : place(x)) - low) / (high - low) : 0.5;
    return kLeft + share * (kWidth - kLeft - kRight);
  }
  double at_y(double y) const { return bottom() - (y - y_.low) / (y_.high - y_.low) * (kHeight - kTop - kBottom); }
  double bottom() const { return top_ + kHeight - kBottom; }

  Range range_of(bool x) const {
    bool any = false;
    Range range;
    for (const Series& series : plot_.series) {
      for (const auto& [px, py] : series.points) {
        const double value = x ? px : py;
        range.low = any ? std::min(range.low, value) : value;
        range.high = any ? std::max(range.high, value) : value;
        any = true;
      }
    }
    return range;
  }

  void line(double x1, double y1, double x2, double y2, const char* stroke) {
    out_ += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\"/>\n", x1, y1, x2,
                        y2, stroke);
  }
  void label(double x, double y, const char* anchor, std::string_view text) {
    out_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor, escaped(text));
  }

  std::vector<double> x_ticks() const {
    if (!plot_.log_x) return x_.high > x_.low ? axis_ticks(x_.low, x_.high, kTicks) : std::vector<double>{x_.low};
    std::vector<double> ticks;
    for (const Series& series : plot_.series) {
      for (const auto& point : series.points) ticks.push_back(point.first);
    }
    std::sort(ticks.begin(), ticks.end());
    ticks.erase(std::unique(ticks.begin(), ticks.end()), ticks.end());
    // No two labels closer than a word is wide.
    std::vector<double> kept;
    for (const double tick : ticks) {
      if (kept.empty() || at_x(tick) - at_x(kept.back()) > 46) kept.push_back(tick);
    }
    return kept;
  }

  void draw_axes() {
    for (const double tick : y_ticks_) {
      line(kLeft, at_y(tick), kWidth - kRight, at_y(tick), "#dddddd");
      label(kLeft - 8, at_y(tick) + 4, "end", short_number(tick));
    }
    line(kLeft, bottom(), kWidth - kRight, bottom(), "#333333");
    line(kLeft, top_ + kTop, kLeft, bottom(), "#333333");
    if (plot_.kind == Plot::Kind::kBars) {
      const double room = (kWidth - kLeft - kRight) / std::max<double>(1, static_cast<double>(plot_.labels.size()));
      const size_t every = std::max<size_t>(1, static_cast<size_t>(std::ceil(52 / room)));
      for (size_t i = 0; i < plot_.labels.size(); i += every) {
        label(at_x(static_cast<double>(i)), bottom() + 18, "middle", plot_.labels[i].substr(0, 14));
      }
    } else {
      for (const double tick : x_ticks()) {
        if (tick < x_.low || tick > x_.high) continue;
        line(at_x(tick), bottom(), at_x(tick), bottom() + 5, "#333333");
        label(at_x(tick), bottom() + 18, "middle", short_number(tick));
      }
    }
    label((kLeft + kWidth - kRight) / 2, bottom() + 40, "middle", plot_.x_axis);
    const double middle = (top_ + kTop + bottom()) / 2;
    out_ += fmt::format(
        "<text x=\"18\" y=\"{0:.1f}\" text-anchor=\"middle\" transform=\"rotate(-90 18 {0:.1f})\">{1}</text>\n", middle,
        escaped(plot_.y_axis));
  }

  void draw_line(size_t i) {
    const Series& series = plot_.series[i];
    std::string points;
    for (const auto& [x, y] : series.points) points += fmt::format("{:.1f},{:.1f} ", at_x(x), at_y(y));
    out_ +=
        fmt::format("<polyline fill=\"none\" stroke=\"{}\" stroke-width=\"2\" points=\"{}\"/>\n", colour(i), points);
    if (series.points.size() > 40) return;
    for (const auto& [x, y] : series.points) {
      out_ += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"{}\"/>\n", at_x(x), at_y(y), colour(i));
    }
  }

  void draw_bars(size_t i) {
    const double group = (kWidth - kLeft - kRight) / std::max<double>(1, static_cast<double>(plot_.labels.size()));
    const double width = group * 0.8 / static_cast<double>(plot_.series.size());
    for (const auto& [x, y] : plot_.series[i].points) {
      const double left = at_x(x) - group * 0.4 + width * static_cast<double>(i);
      out_ += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"/>\n", left,
                          at_y(y), std::max(width - 1, 0.5), std::max(at_y(y_.low) - at_y(y), 0.0), colour(i));
    }
  }

  void draw_legend() {
    if (plot_.series.size() < 2) return;
    for (size_t i = 0; i < plot_.series.size(); ++i) {
      const double x = kLeft + static_cast<double>(i % 3) * 220;
      const double y = top_ + kHeight + kLegendRow * static_cast<double>(i / 3) - 6;
      out_ += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"12\" height=\"12\" fill=\"{}\"/>\n", x, y - 10,
                          colour(i));
      label(x + 18, y, "start", plot_.series[i].name.substr(0, 30));
    }
  }

  const Plot& plot_;
  double top_;
  Range x_;
  Range y_;
  std::vector<double> y_ticks_;
  std::string out_;
};

}  // namespace

std::vector<double> axis_ticks(double low, double high, size_t count) {
  const double raw = (high - low) / static_cast<double>(std::max<size_t>(count, 1));
  const double power = std::pow(10, std::floor(std::log10(raw)));
  double step = power * 10;
  for (const double round : {1.0, 2.0, 2.5, 5.0}) {
    if (raw <= round * power * (1 + 1e-9)) {
      step = round * power;
      break;
    }
  }
  std::vector<double> ticks;
  const double first = std::floor(low / step + 1e-9);
  for (double i = 0;; ++i) {
    ticks.push_back((first + i) * step);
    if (ticks.back() >= high - step * 1e-9) return ticks;
  }
}

std::string svg_of(std::span<const Plot> plots) {
  double height = 8;
  std::string body;
  for (const Plot& plot : plots) {
    body += Drawing(plot, height).text();
    height += Drawing::height(plot) + 8;
  }
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" "
      "fill=\"white\"/>\n{2}</svg>\n",
      kWidth, height, body);
}

}  // namespace slipring::lab
