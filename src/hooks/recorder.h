// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "losses.h"
#include "message_parser.h"
#include "reading_rules.h"

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <assay/base/time.h>
#include <assay/hooks/report.h>
#include <assay/samples/series.h>

namespace assay::hooks {

/// Turns readings into samples: one series per name and calling process, stamped with the client's
/// time when that is plausible, never going back. Known names cost no allocation.
class Recorder {
 public:
  /// Processes that get a series of their own per name; further ones share one.
  static constexpr size_t kCallersPerName = 16;

  Recorder(SampleSink& sink, size_t max_names) : sink_(sink), max_names_(max_names) {}

  void record(const Reading& reading, const Caller& caller, const Arrival& arrival, Losses& losses);
  const std::map<std::string, double>& latest() const { return latest_; }

 private:
  struct OwnSeries {
    pid_t pid;
    SeriesId id;
    Timestamp last;
    double factor;  ///< from the client's first unit to the series'
    std::string unit;
  };
  struct Name {
    std::vector<OwnSeries> series;
    double* latest = nullptr;
  };
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };

  Name* find_or_add(std::string_view name, Losses& losses);
  OwnSeries& series_of(Name& name, const Reading& reading, const Caller& caller);

  SampleSink& sink_;
  size_t max_names_;
  std::unordered_map<std::string, Name, Hash, std::equal_to<>> names_;
  std::map<std::string, double> latest_;
};

}  // namespace assay::hooks
