// SPDX-License-Identifier: Apache-2.0
#include "live_table.h"

#include <gtest/gtest.h>

namespace assay::session {
namespace {

TEST(LiveTable, shows_cores_over_the_last_beats_and_passes_all_on) {
  MemorySeries memory;
  LiveTable table(memory);
  const auto cpu = table.declare(describe(MetricId::cpu_usage_seconds_total, Scope::app, "test"));
  const auto node = table.declare(describe(MetricId::cpu_usage_seconds_total, Scope::node, "test"));
  const auto mem = table.declare(describe(MetricId::memory_bytes, Scope::app, "test"));
  EXPECT_EQ(table.cores(), std::nullopt);
  for (int i = 0; i < 30; ++i) {
    const Timestamp t = from_unix_ns(i * 100'000'000LL);
    table.sample(cpu, t, 0.15 * i);
    table.sample(node, t, 9.0 * i);
    table.sample(mem, t, 1000 + i);
    table.remember_cores();
  }
  EXPECT_NEAR(table.cores().value(), 1.5, 1e-9);
  EXPECT_EQ(table.memory_bytes(), 1029);
  EXPECT_EQ(table.recent_cores().size(), 20U);
  EXPECT_EQ(memory.find("memory_bytes")->values.size(), 30U);
}

TEST(LiveTable, knows_the_units_of_what_is_reported) {
  MemorySeries memory;
  LiveTable table(memory);
  SeriesInfo info;
  info.name = "latency";
  info.unit = "seconds";
  info.kind = Kind::event;
  table.declare(info);
  EXPECT_EQ(table.units(), (std::map<std::string, std::string>{{"latency", "seconds"}}));
}

}  // namespace
}  // namespace assay::session
