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

/// How something is used.
struct Pattern {
  analysis::UseClass use = analysis::UseClass::idle;
  std::optional<double> period_seconds = {};  ///< of the strongest cycle; nothing: there is none
  double confidence = 0;                      ///< of that cycle
  std::optional<Ahead> hour = {};
  std::optional<Ahead> day = {};
};

/// Of a series of the last hour or two; `full` is all there is. A class that was told `before`
/// stays until it is clearly another. Nothing: too short.
std::optional<Pattern> pattern_of(const std::vector<double>& values, double step_seconds,
                                  double full, const std::optional<Pattern>& before = {});
/// Of the last days, for the next one; nothing: less than a day is known.
std::optional<Ahead> day_ahead(const std::vector<double>& values, double step_seconds, double full);

}  // namespace assay::cluster
