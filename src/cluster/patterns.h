// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include <assay/analysis/series_analysis.h>

namespace assay::cluster {

/// What is ahead over some time: the mean, and between which values it will mostly be.
struct Ahead {
  float mean = 0;
  float low80 = 0;
  float high80 = 0;
  float low95 = 0;
  float high95 = 0;
};

/// What the last days tell: of cycles that are too slow for hours, and of the next day.
struct Days {
  std::optional<double> period_seconds = {};
  std::optional<Ahead> ahead = {};  ///< nothing: less than a day is known
};

/// How something is used.
struct Pattern {
  analysis::UseClass use = analysis::UseClass::idle;
  std::optional<double> period_seconds = {};  ///< of the strongest cycle; nothing: there is none
  double confidence = 0;                      ///< of that cycle
  std::optional<Ahead> hour = {};
  Days days = {};

  /// That of its iterations, or else that of its days.
  std::optional<double> period() const {
    return period_seconds ? period_seconds : days.period_seconds;
  }
};

/// Of a series of the last hour or two; `full` is all there is. A class that was told `before`
/// stays until it is clearly another. Nothing: too short.
std::optional<Pattern> pattern_of(const std::vector<double>& values, double step_seconds,
                                  double full, const std::optional<Pattern>& before = {});
Days days_of(const std::vector<double>& values, double step_seconds, double full);

}  // namespace assay::cluster
