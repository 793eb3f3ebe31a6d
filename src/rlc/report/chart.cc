#include "rlc/report/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "rlc/report/figures.h"

namespace rlc {
namespace {

constexpr double kWidth = 640, kHeight = 340, kLeft = 64, kRight = 16, kTop = 16, kBottom = 48;

struct Axis {
  double low = 0, high = 1, from = 0, to = 1;  // data range -> pixel range
  double At(double value) const { return from + (value - low) / (high - low) * (to - from); }
};

bool Finite(const ChartPoint& point) { return std::isfinite(point.x) && std::isfinite(point.y); }

// The range of one coordinate over all points, widened to round ticks.
Axis AxisOver(const Chart& chart, double ChartPoint::* coordinate, double from, double to, std::vector<double>& ticks) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const ChartSeries& series : chart.series) {
    for (const ChartPoint& point : series.points) {
      if (!Finite(point)) continue;
      low = std::min(low, point.*coordinate);
      high = std::max(high, point.*coordinate);
    }
  }
  if (coordinate == &ChartPoint::x) {
    for (const auto& [x, word] : chart.vertical_marks) low = std::min(low, x), high = std::max(high, x);
  }
  ticks = NiceTicks(low, high);
  return {ticks.front(), ticks.back(), from, to};
}

std::string TickText(double tick) { return fmt::format("{:.6g}", std::abs(tick) < 1e-12 ? 0.0 : tick); }

std::string RenderAxes(const Chart& chart, const Axis& x, const Axis& y, const std::vector<double>& x_ticks,
                       const std::vector<double>& y_ticks) {
  std::string svg;
  for (const double tick : x_ticks) {
    svg += fmt::format("<line class=grid x1={0:.1f} x2={0:.1f} y1={1:.0f} y2={2:.0f}></line>", x.At(tick), kTop,
                       kHeight - kBottom);
    svg += fmt::format("<text class=tick x={:.1f} y={} text-anchor=middle>{}</text>", x.At(tick),
                       kHeight - kBottom + 18, TickText(tick));
  }
  for (const double tick : y_ticks) {
    svg += fmt::format("<line class=grid x1={0:.0f} x2={1:.0f} y1={2:.1f} y2={2:.1f}></line>", kLeft, kWidth - kRight,
                       y.At(tick));
    svg += fmt::format("<text class=tick x={} y={:.1f} text-anchor=end>{}</text>", kLeft - 8, y.At(tick) + 4,
                       TickText(tick));
  }
  svg += fmt::format("<text class=label x={} y={} text-anchor=middle>{}</text>", (kLeft + kWidth - kRight) / 2,
                     kHeight - 8, Escape(chart.x_label));
  svg += fmt::format("<text class=label transform='translate(14 {}) rotate(-90)' text-anchor=middle>{}</text>",
                     (kTop + kHeight - kBottom) / 2, Escape(chart.y_label));
  for (const auto& [at, word] : chart.vertical_marks) {
    svg += fmt::format("<line class=mark x1={0:.1f} x2={0:.1f} y1={1:.0f} y2={2:.0f}></line>", x.At(at), kTop,
                       kHeight - kBottom);
    svg +=
        fmt::format("<text class=tick x={:.1f} y={} text-anchor=end>{}</text>", x.At(at) - 4, kTop + 12, Escape(word));
  }
  return svg;
}

std::string RenderSeries(const ChartSeries& series, const Axis& x, const Axis& y) {
  std::string path, dots;
  for (const ChartPoint& point : series.points) {
    if (!Finite(point)) continue;
    path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x.At(point.x), y.At(point.y));
    dots += fmt::format("<circle class={} cx={:.1f} cy={:.1f} r=4><title>{}</title></circle>", series.css_class,
                        x.At(point.x), y.At(point.y), Escape(point.title));
  }
  return series.line ? fmt::format("<path class='line {}' d='{}'></path>", series.css_class, path) + dots : dots;
}

}  // namespace

std::vector<double> NiceTicks(double low, double high, int wanted) {
  if (!(high > low)) {
    const double middle = std::isfinite(low) ? low : 0, spread = middle == 0 ? 1 : std::abs(middle) * 0.1;
    low = middle - spread;
    high = middle + spread;
  }
  const double rough = (high - low) / std::max(wanted, 1), power = std::pow(10, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough * 0.999) {
      step = factor * power;
      break;
    }
  }
  std::vector<double> ticks;
  const double first = std::floor(low / step + 1e-9), last = std::ceil(high / step - 1e-9);
  for (double i = first; i <= last; ++i) ticks.push_back(i * step);
  return ticks;
}

std::string RenderChart(const Chart& chart) {
  const bool any = std::any_of(chart.series.begin(), chart.series.end(), [](const ChartSeries& series) {
    return std::any_of(series.points.begin(), series.points.end(), Finite);
  });
  if (!any) return fmt::format("<p class=muted>{}: nothing to show.</p>", Escape(chart.title));
  std::vector<double> x_ticks, y_ticks;
  const Axis x = AxisOver(chart, &ChartPoint::x, kLeft, kWidth - kRight, x_ticks);
  const Axis y = AxisOver(chart, &ChartPoint::y, kHeight - kBottom, kTop, y_ticks);
  std::string svg =
      fmt::format("<svg viewBox='0 0 {} {}' role=img aria-label='{}'>", kWidth, kHeight, Escape(chart.title));
  svg += RenderAxes(chart, x, y, x_ticks, y_ticks);
  std::string legend;
  for (const ChartSeries& series : chart.series) {
    svg += RenderSeries(series, x, y);
    if (!series.points.empty())
      legend += fmt::format("<span class='key {}'>{}</span>", series.css_class, Escape(series.name));
  }
  return svg + "</svg><p class=legend>" + legend + "</p>";
}

}  // namespace rlc
