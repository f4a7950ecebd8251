// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "window.h"

#include <array>
#include <optional>
#include <string>

#include <assay/hooks/histogram.h>
#include <assay/hooks/report.h>

namespace assay::agent {

/// Durations of the last minute, in steps of ten seconds.
class RecentDurations {
 public:
  void add(Timestamp time, const hooks::Histogram& added);
  static constexpr int64_t kSteps = 6;
  /// In seconds, of the last so many steps; nothing when there were none.
  std::optional<double> quantile(double q, Timestamp now, int64_t steps = kSteps) const;
  std::optional<double> mean(Timestamp now, int64_t steps = kSteps) const;

 private:
  struct Step {
    int64_t number = -1;  ///< of the ten seconds that it holds, since 1970
    hooks::Histogram durations;
  };

  const hooks::Histogram& recent(Timestamp now, int64_t steps) const;

  std::array<Step, kSteps> steps_;
};

/// What an app reports under one name, by all of its processes together.
struct Report {
  hooks::ReportInfo info;
  std::string family;  ///< "assay_app_fps", "assay_app_latency_seconds"
  double value = 0;    ///< of a number the last, of rates and counters the sum over the processes
  Timestamp time{};    ///< of the last value
  Window window = Window();         ///< of numbers and rates
  hooks::Histogram durations = {};  ///< of a timer, all of them
  RecentDurations recent = {};
};

/// The name of the family that a report belongs to: "assay_app_" and the app's own name with its
/// unit, as Prometheus wants it.
std::string family_of(const hooks::ReportInfo& info);

/// The mean or quantile of the last minute, as a goal names it: mean, p50, p95, p99, peak, min.
std::optional<double> statistic(const Report& report, std::string_view name, Timestamp now);
/// The same of the last seconds, or of as long as it takes to have some values.
std::optional<double> latest_statistic(const Report& report, std::string_view name, Timestamp now);
/// Of any values, over the last seconds in the same way.
std::optional<double> latest_statistic(const Window& window, std::string_view name, Timestamp now);
/// How far back these reach.
Nanoseconds latest_length(const Report& report, Timestamp now);
Nanoseconds latest_length(const Window& window, Timestamp now);

}  // namespace assay::agent
