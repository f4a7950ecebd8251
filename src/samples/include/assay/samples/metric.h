// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include <assay/samples/catalog.gen.h>

namespace assay {

enum class Kind : uint8_t {
  gauge,    ///< a level at the moment of the sample
  counter,  ///< grows; what interests is its rate
  event,    ///< one value reported by the app itself, at its own pace
};

/// One line of catalog/metrics.yaml. A counter also names what its rate is called and measured in
/// ("cpu_usage_seconds_total" in seconds has the rate "cpu_cores" in cores).
struct Metric {
  std::string_view name;
  std::string_view unit;
  Kind kind;
  std::string_view help;
  std::string_view rate_name;
  std::string_view rate_unit;
};

/// The catalogue, indexed by MetricId.
std::span<const Metric> catalog();
const Metric& metric(MetricId id);
/// Finds a metric by its name or by its rate's name; nullptr when the catalogue has none.
const Metric* find_metric(std::string_view name);
/// "cpu", "cores", "memory", "rss", "power" and "watts" are short for a footprint's names; any
/// other name stands for itself.
std::string_view full_metric_name(std::string_view name);

std::string_view to_string(Kind kind);

}  // namespace assay
