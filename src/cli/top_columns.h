// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "top_document.h"
#include "top_frame.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace assay::cli {

/// A column of the live table. Only the name's width is what is left.
struct TopColumn {
  std::string key;  ///< what `--sort` calls it
  std::string title;
  size_t width = 0;  ///< 0: as wide as it can
  int rank = 0;      ///< where it is narrow, columns of a high rank go first
  std::function<Span(const TopApp&)> cell;
  /// What it is sorted by, the largest first; apps without it come last.
  std::function<std::optional<double>(const TopApp&)> order = {};
  bool is_text = false;  ///< stands left, where numbers stand right

  std::string placed(std::string_view text) const;
};

/// All columns for which some app has something; the name is the first. The sparkline of cores is
/// drawn from `recent`, by the app's id.
using RecentCores = std::map<std::string, std::vector<double>>;
std::vector<TopColumn> top_columns(const TopDocument& document, const RecentCores& recent,
                                   bool unicode);

/// Those that fit beside a name of at least 16 columns, with the width of the name set.
std::vector<TopColumn> fitting_columns(std::vector<TopColumn> columns, size_t width);

struct TopOrder {
  std::string key = "cores";
  bool inverted = false;
};
/// The apps whose name, kind, image or place holds the filter, in order.
std::vector<const TopApp*> top_rows(const TopDocument& document,
                                    const std::vector<TopColumn>& columns, const TopOrder& order,
                                    const std::string& filter);
/// Whether the app is one that somebody means by this text, whatever its case.
bool is_meant(const TopApp& app, const std::string& text);

Line column_titles(const std::vector<TopColumn>& columns);
Line row_of(const std::vector<TopColumn>& columns, const TopApp& app);

/// "612 MB", "1.2 kB/s", "0.52", "81 ms": by the value's name and unit.
std::string shown_value(const std::string& name, const std::string& unit, double value);
/// "0:12", "3:04:05", "12 d 3 h", "-".
std::string age_text(std::optional<double> seconds);

}  // namespace assay::cli
