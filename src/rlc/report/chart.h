// Charts as inline SVG: points and lines over two axes with round ticks. Colours come from the page's style sheet, so
// that dark mode and printing work.
#ifndef RLC_REPORT_CHART_H_
#define RLC_REPORT_CHART_H_

#include <string>
#include <utility>
#include <vector>

namespace rlc {

struct ChartPoint {
  double x = 0, y = 0;
  std::string title;  // shown on hover
};

struct ChartSeries {
  std::string name;
  std::string css_class;  // "trial", "front", "winner", "baseline"
  std::vector<ChartPoint> points;
  bool line = false;  // joined in order; else dots
};

struct Chart {
  std::string title;  // for screen readers
  std::string x_label, y_label;
  std::vector<ChartSeries> series;
  std::vector<std::pair<double, std::string>> vertical_marks;  // dashed lines at x, with a word
};

// Round numbers that cover [low, high]: steps of 1, 2 or 5 times a power of ten, about `wanted` of them.
std::vector<double> NiceTicks(double low, double high, int wanted = 5);

// Points that are not finite are left out. A chart without points says so in words.
std::string RenderChart(const Chart& chart);

}  // namespace rlc

#endif  // RLC_REPORT_CHART_H_
