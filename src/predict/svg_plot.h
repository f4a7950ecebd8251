// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::predict {

/// Text that may stand in HTML and SVG.
std::string escaped(std::string_view text);
/// "1.2 ms"
std::string short_duration(double seconds);

/// A plot as inline SVG; colours are those of the page's classes c0 to c7.
struct PlotPoint {
  double x = 0;
  double y = 0;
  size_t group = 0;   ///< which colour
  std::string title;  ///< shown when one points at it
};
struct Axis {
  std::string title;
  double low = 0;  ///< in what is plotted: the logarithm where it is one
  double high = 1;
  bool logarithmic = false;  ///< ticks are durations at powers of ten
};
/// A line or a band across the plot, from corner to corner: y = x + offset.
struct Guide {
  double slope = 0;
  double offset = 0;
  std::string kind;  ///< class: "guide" or "limit"
};
std::string scatter(const Axis& x, const Axis& y, const std::vector<PlotPoint>& points,
                    const std::vector<Guide>& guides);

/// Bars from the largest, each with its name and share.
std::string bars(std::vector<std::pair<std::string, double>> shares, size_t most);

}  // namespace assay::predict
