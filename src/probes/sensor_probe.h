// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kept_file.h"

#include <optional>
#include <string>
#include <vector>

#include <assay/probes/probe.h>

namespace assay::probes {

/// One number of a sensor: the product of one or two files' whole numbers and a scale.
struct Sensor {
  std::vector<std::string> files;
  double scale = 1;
  MetricId metric;
  std::string source;
  Labels labels;
  /// A counter that starts over at this raw value; its samples go on growing.
  std::optional<uint64_t> wraps_at = std::nullopt;
};

/// Reads sensors that were found before. One that cannot be opened is not measured; one that fails
/// now and then is left out of that sample.
class SensorProbe final : public Probe {
 public:
  /// `nothing` is the reason a user sees when there is no sensor at all. `advice` follows the
  /// reason of a file that may not be read.
  SensorProbe(const SysRoot& root, std::string name, Pace pace, std::vector<Sensor> sensors,
              std::string nothing, std::string advice = "");

  std::string_view name() const override { return name_; }
  Pace pace() const override { return pace_; }
  Result<void> open(SampleSink& sink) override;
  Result<void> sample(const Clock& clock, SampleSink& sink) override;
  std::vector<NotMeasured> not_measured() const override { return not_measured_; }

 private:
  struct OpenSensor {
    const Sensor* sensor = nullptr;
    std::vector<KeptFile> files;
    SeriesId series{};
    int64_t last_raw = 0;
    double wrapped = 0;
  };
  Result<OpenSensor> open_sensor(const Sensor& sensor) const;
  static std::optional<double> read(OpenSensor& open);

  SysRoot root_;
  std::string name_;
  Pace pace_;
  std::vector<Sensor> sensors_;
  std::string nothing_;
  std::string advice_;
  std::vector<OpenSensor> open_;
  std::vector<NotMeasured> not_measured_;
};

}  // namespace assay::probes
