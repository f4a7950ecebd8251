// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <assay/samples/series.h>

namespace assay::session {

/// Passes samples on to another sink and remembers what the live line shows.
class LiveTable final : public SampleSink {
 public:
  explicit LiveTable(SampleSink& next);

  SeriesId declare(const SeriesInfo& info) override;
  void sample(SeriesId id, Timestamp time, double value) override;
  void lost(const Loss& loss) override { next_.lost(loss); }

  /// Over the last second or so.
  std::optional<double> cores() const;
  std::optional<double> memory_bytes() const { return memory_; }
  /// Moves one step of the sparkline on; call it at the pace of the live line.
  void remember_cores();
  const std::vector<double>& recent_cores() const { return recent_; }
  /// Of what the app reports, by name.
  const std::map<std::string, std::string>& units() const { return units_; }

 private:
  struct Point {
    Timestamp time;
    double cpu_seconds = 0;
  };
  SampleSink& next_;
  std::optional<SeriesId> cpu_id_;
  std::optional<SeriesId> memory_id_;
  std::vector<Point> window_;  ///< a ring of the last beats
  size_t head_ = 0;
  size_t filled_ = 0;
  std::optional<double> memory_;
  std::vector<double> recent_;
  std::map<std::string, std::string> units_;
};

}  // namespace assay::session
