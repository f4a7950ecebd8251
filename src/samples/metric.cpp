// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <utility>

#include <assay/samples/metric.h>

namespace assay {
namespace {

constexpr auto kCatalog = std::to_array<Metric>({
#include <assay/samples/catalog_table.gen.inc>
});

}  // namespace

std::span<const Metric> catalog() {
  return kCatalog;
}

const Metric& metric(MetricId id) {
  return kCatalog[static_cast<size_t>(id)];
}

const Metric* find_metric(std::string_view name) {
  for (const auto& m : kCatalog) {
    if (m.name == name || (!m.rate_name.empty() && m.rate_name == name)) return &m;
  }
  return nullptr;
}

std::string_view full_metric_name(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kShort = {
      {{"cpu", "cpu_cores"},
       {"cores", "cpu_cores"},
       {"memory", "memory_bytes"},
       {"rss", "memory_rss_bytes"},
       {"power", "power_watts"},
       {"watts", "power_watts"}}};
  for (const auto& [shorter, full] : kShort) {
    if (shorter == name) return full;
  }
  return name;
}

std::string_view to_string(Kind kind) {
  switch (kind) {
    case Kind::gauge:
      return "gauge";
    case Kind::counter:
      return "counter";
    case Kind::event:
      return "event";
  }
  return "gauge";
}

}  // namespace assay
