// SPDX-License-Identifier: Apache-2.0
#include <assay/samples/metric.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(Catalog, ids_index_the_table) {
  EXPECT_EQ(metric(MetricId::cpu_usage_seconds_total).name, "cpu_usage_seconds_total");
  EXPECT_EQ(metric(MetricId::profiler_memory_bytes).unit, "bytes");
  EXPECT_EQ(static_cast<size_t>(MetricId::profiler_memory_bytes) + 1, catalog().size());
}

TEST(Catalog, finds_a_metric_by_name_and_by_its_rate) {
  EXPECT_EQ(find_metric("cpu_cores"), &metric(MetricId::cpu_usage_seconds_total));
  EXPECT_EQ(find_metric("memory_bytes"), &metric(MetricId::memory_bytes));
  EXPECT_EQ(find_metric("no_such"), nullptr);
  EXPECT_EQ(find_metric(""), nullptr);
}

TEST(Catalog, every_counter_has_a_rate) {
  for (const auto& m : catalog()) {
    EXPECT_EQ(m.kind == Kind::counter, !m.rate_name.empty()) << m.name;
    EXPECT_FALSE(m.help.empty()) << m.name;
  }
}

}  // namespace
}  // namespace assay
