// SPDX-License-Identifier: Apache-2.0
#include <array>

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
