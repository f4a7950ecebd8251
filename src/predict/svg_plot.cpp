// SPDX-License-Identifier: Apache-2.0
#include "svg_plot.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace assay::predict {
namespace {

constexpr double kWidth = 560;
constexpr double kHeight = 420;
constexpr double kLeft = 70;
constexpr double kBottom = 48;
constexpr double kTop = 12;
constexpr double kRight = 14;
constexpr size_t kColors = 8;
constexpr double kBarHeight = 20;
constexpr double kNames = 250;

double share_of(const Axis& axis, double value) {
  return (value - axis.low) / std::max(axis.high - axis.low, 1e-9);
}
double across(const Axis& axis, double value) {
  return kLeft + share_of(axis, value) * (kWidth - kLeft - kRight);
}
double down(const Axis& axis, double value) {
  return kHeight - kBottom - share_of(axis, value) * (kHeight - kBottom - kTop);
}

/// Where lines of the grid are: powers of ten, with 2 and 5 where there are few, or round steps.
std::vector<double> ticks_of(const Axis& axis) {
  std::vector<double> ticks;
  if (axis.logarithmic) {
    const bool few = axis.high - axis.low < 2.2 * std::log(10);
    for (int power = -9; power < 6; ++power)
      for (const double digit : {1.0, 2.0, 5.0})
        if (digit == 1 || few) ticks.push_back(std::log(digit) + power * std::log(10));
  } else {
    const double rough = (axis.high - axis.low) / 6;
    const double power = std::pow(10, std::floor(std::log10(std::max(rough, 1e-9))));
    const double digit = rough / power;
    const double step = power * (digit < 1.5 ? 1 : (digit < 3.5 ? 2 : (digit < 7.5 ? 5 : 10)));
    for (double at = std::ceil(axis.low / step) * step; at <= axis.high; at += step)
      ticks.push_back(at);
  }
  std::erase_if(ticks, [&](double at) { return at < axis.low || at > axis.high; });
  return ticks;
}
std::string tick_text(const Axis& axis, double at) {
  if (axis.logarithmic) return short_duration(std::exp(at));
  return fmt::format("{:.3g} %", std::abs(at) < 1e-9 ? 0 : at);
}

std::string grid_of(const Axis& x, const Axis& y) {
  std::string out;
  for (const double at : ticks_of(x))
    out += fmt::format(
        "<line class=\"grid\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"/><text "
        "x=\"{0:.1f}\" "
        "y=\"{3}\" text-anchor=\"middle\">{4}</text>\n",
        across(x, at), kTop, kHeight - kBottom, kHeight - kBottom + 17, tick_text(x, at));
  for (const double at : ticks_of(y))
    out += fmt::format(
        "<line class=\"grid\" y1=\"{0:.1f}\" y2=\"{0:.1f}\" x1=\"{1}\" x2=\"{2}\"/><text x=\"{3}\" "
        "y=\"{4:.1f}\" text-anchor=\"end\">{5}</text>\n",
        down(y, at), kLeft, kWidth - kRight, kLeft - 7, down(y, at) + 4, tick_text(y, at));
  out += fmt::format("<text class=\"axis\" x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
                     (kLeft + kWidth - kRight) / 2, kHeight - 8, escaped(x.title));
  out += fmt::format(
      "<text class=\"axis\" transform=\"translate(14,{}) rotate(-90)\" "
      "text-anchor=\"middle\">{}</text>\n",
      (kHeight - kBottom + kTop) / 2, escaped(y.title));
  return out;
}

std::string guide_line(const Axis& x, const Axis& y, const Guide& guide) {
  return fmt::format(
      "<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n", guide.kind,
      across(x, x.low), down(y, guide.slope * x.low + guide.offset), across(x, x.high),
      down(y, guide.slope * x.high + guide.offset));
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

std::string short_duration(double seconds) {
  if (seconds < 0.9995e-3) return fmt::format("{:.3g} µs", 1e6 * seconds);
  if (seconds < 0.9995) return fmt::format("{:.3g} ms", 1e3 * seconds);
  return fmt::format("{:.3g} s", seconds);
}

std::string scatter(const Axis& x, const Axis& y, const std::vector<PlotPoint>& points,
                    const std::vector<Guide>& guides) {
  std::string out = fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\">\n", kWidth, kHeight);
  out += grid_of(x, y);
  out += fmt::format("<svg x=\"0\" y=\"0\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\">\n",
                     kWidth, kHeight - kBottom + 4);
  for (const auto& guide : guides) out += guide_line(x, y, guide);
  for (const auto& point : points)
    out += fmt::format(
        "<circle class=\"c{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.6\"><title>{}</title></circle>\n",
        point.group % kColors, across(x, std::clamp(point.x, x.low, x.high)),
        down(y, std::clamp(point.y, y.low, y.high)), escaped(point.title));
  return out + "</svg>\n</svg>\n";
}

std::string bars(std::vector<std::pair<std::string, double>> shares, size_t most) {
  std::stable_sort(shares.begin(), shares.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::erase_if(shares, [](const auto& one) { return one.second < 0.0005; });
  if (shares.size() > most) shares.resize(most);
  const double height = kBarHeight * static_cast<double>(shares.size());
  const double largest = shares.empty() ? 1 : shares.front().second;
  std::string out = fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\">\n", kWidth, height + 4);
  double at = 0;
  for (const auto& [name, share] : shares) {
    out += fmt::format(
        "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text><rect class=\"bar\" x=\"{}\" "
        "y=\"{}\" "
        "width=\"{:.1f}\" height=\"{}\" rx=\"2\"/><text x=\"{:.1f}\" y=\"{}\">{:.1f} %</text>\n",
        kNames - 8, at + 14, escaped(name), kNames, at + 3,
        share / largest * (kWidth - kNames - 62), kBarHeight - 6,
        kNames + share / largest * (kWidth - kNames - 62) + 6, at + 14, 100 * share);
    at += kBarHeight;
  }
  return out + "</svg>\n";
}

}  // namespace assay::predict
