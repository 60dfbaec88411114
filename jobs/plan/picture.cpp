#include "jobs/plan/picture.hpp"

#include "jobs/plan/quantities.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace mend::jobs {
namespace {

using Points = std::vector<std::pair<double, double>>;

struct Axis {
  std::string title;
  bool logarithmic = false;
  double low = 0;
  double high = 1;
  /// The position of a value on the axis, from 0 to 1.
  double place(double value) const {
    const auto scaled = [&](double v) { return logarithmic ? std::log10(v) : v; };
    return std::clamp((scaled(value) - scaled(low)) / (scaled(high) - scaled(low)), 0.0, 1.0);
  }
};

struct Tick {
  double value;
  std::string text;
};

struct Diagram {
  double left;  ///< of the area inside the axes
  Axis x, y;
  std::vector<Tick> x_ticks{}, y_ticks{};
  Points line{};
  std::pair<double, double> mark;
  std::string mark_text;
};

constexpr double width = 330;
constexpr double height = 220;
constexpr double top = 50;

std::string drawn(const Diagram& diagram) {
  const auto x = [&](double value) { return diagram.left + width * diagram.x.place(value); };
  const auto y = [&](double value) { return top + height * (1 - diagram.y.place(value)); };
  const double bottom = top + height;
  std::string text = fmt::format("<text x='{}' y='{}' class='t'>{}</text>\n", diagram.left, top - 15, diagram.y.title);
  for (const Tick& tick : diagram.y_ticks) {
    text +=
        fmt::format("<path class='g' d='M{0} {2:.1f}H{1}'/><text x='{3}' y='{4:.1f}' text-anchor='end'>{5}</text>\n",
                    diagram.left, diagram.left + width, y(tick.value), diagram.left - 6, y(tick.value) + 4, tick.text);
  }
  for (const Tick& tick : diagram.x_ticks) {
    text +=
        fmt::format("<path class='g' d='M{0:.1f} {1}V{2}'/><text x='{0:.1f}' y='{3}' text-anchor='middle'>{4}</text>\n",
                    x(tick.value), top, bottom, bottom + 18, tick.text);
  }
  text += fmt::format("<text x='{}' y='{}' text-anchor='middle'>{}</text>\n", diagram.left + width / 2, bottom + 38,
                      diagram.x.title);
  std::string path;
  for (const auto& [px, py] : diagram.line)
    path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x(px), y(py));
  text += fmt::format("<path class='l' d='{}'/>\n", path);
  const double mark_x = x(diagram.mark.first);
  const bool right_half = mark_x > diagram.left + width / 2;
  text += fmt::format(
      "<circle cx='{0:.1f}' cy='{1:.1f}' r='5'/><text x='{2:.1f}' y='{3:.1f}' text-anchor='{4}'>{5}</text>\n", mark_x,
      y(diagram.mark.second), mark_x + (right_half ? -10 : 10), y(diagram.mark.second) - 10,
      right_half ? "end" : "start", diagram.mark_text);
  return text;
}

/// Returns the chance as text in XML: that of a very small one begins with "<".
std::string chance_in_xml(double chance) {
  const std::string text = chance_text(chance);
  return text.starts_with('<') ? "&lt;" + text.substr(1) : text;
}

Diagram overhead_by_interval(const Scenario& scenario, const Forecast& planned) {
  constexpr double reach = 30;  // factor below and above the planned value
  Diagram diagram{.left = 70,
                  .x = {R"(work between two commits)", true, planned.interval.count() / reach,
                        std::min(planned.interval.count() * reach, scenario.work.count())},
                  .y = {"overhead", false, 0, 1},
                  .mark = {planned.interval.count(), planned.overhead},
                  .mark_text = fmt::format("{}: {}", text_of(planned.interval), chance_in_xml(planned.overhead))};
  diagram.x.high = std::max(diagram.x.high, planned.interval.count() * 1.01);
  for (int i = 0; i <= 60; ++i) {
    const double at = diagram.x.low * std::pow(diagram.x.high / diagram.x.low, i / 60.0);
    diagram.line.emplace_back(at, std::min(overhead_with(scenario, Seconds(at)), 1e9));
  }
  diagram.y.high = 4 * std::max(planned.overhead, 1e-9);
  for (int i = 0; i <= 4; ++i)
    diagram.y_ticks.push_back({diagram.y.high * i / 4, chance_in_xml(diagram.y.high * i / 4)});
  for (const double factor : {1 / reach, 1.0 / 5, 1.0, 5.0, reach}) {
    const double at = planned.interval.count() * factor;
    if (at >= diagram.x.low && at <= diagram.x.high * 1.001) diagram.x_ticks.push_back({at, text_of(Seconds(at))});
  }
  return diagram;
}

Diagram chance_by_spares(const Scenario& scenario, const Forecast& planned) {
  const int most = std::max(4, 2 * scenario.spare_nodes);
  Diagram diagram{.left = 500,
                  .x = {"spare nodes", false, 0, static_cast<double>(most)},
                  .y = {R"(chance of running out of spares)", true, 1e-6, 1},
                  .mark = {scenario.spare_nodes, std::max(planned.out_of_spares, 1e-6)},
                  .mark_text = fmt::format("{}: {}", scenario.spare_nodes, chance_in_xml(planned.out_of_spares))};
  const int stride = std::max(1, most / 200);
  for (int spares = 0; spares <= most; spares += stride) {
    const double chance = chance_of_running_out(scenario.nodes, spares, scenario.node_mtbf, planned.elapsed);
    diagram.line.emplace_back(spares, std::max(chance, 1e-6));
  }
  for (const double at : {1e-6, 1e-4, 1e-2, 1.0}) diagram.y_ticks.push_back({at, chance_in_xml(at)});
  for (int i = 0; i <= 4; ++i) {
    const double at = std::round(most * i / 4.0);
    diagram.x_ticks.push_back({at, fmt::format("{:.0f}", at)});
  }
  return diagram;
}

}  // namespace

std::string picture_of(const Scenario& scenario, const Forecast& planned) {
  std::string svg =
      R"(<svg xmlns='http://www.w3.org/2000/svg' width='860' height='330' viewBox='0 0 860 330'>
<style>text{font:12px sans-serif;fill:#222}.t{font-weight:bold}.g{stroke:#ddd}.l{stroke:#1565a0;stroke-width:2;fill:none}
circle{fill:#c62828}</style>
<rect width='860' height='330' fill='#fff'/>
)";
  svg += drawn(overhead_by_interval(scenario, planned));
  svg += drawn(chance_by_spares(scenario, planned));
  return svg + "</svg>\n";
}

}  // namespace mend::jobs
