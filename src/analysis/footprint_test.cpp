// SPDX-License-Identifier: Apache-2.0
#include "footprint.h"

#include "test_run.h"

#include <gtest/gtest.h>

namespace assay::analysis {
namespace {

std::vector<std::string> names(const Lines& lines) {
  std::vector<std::string> result;
  for (const auto& [name, line] : lines) result.push_back(name);
  return result;
}

Distribution line(const TestRun& t, const std::string& name) {
  const auto lines = t.analyze().footprint;
  const auto* found = find(lines, name);
  return found != nullptr ? *found : Distribution{};
}

void add_memory(TestRun& t, MetricId id, const Points& points, const std::string& source = "test") {
  t.add(describe(id, Scope::app, source), points);
}

TEST(Footprint, shows_what_was_measured_in_the_catalogues_order) {
  TestRun t;
  t.steady(MetricId::disk_read_bytes_total, 5);
  t.steady(MetricId::memory_bytes, 5);
  t.steady(MetricId::pressure_io_waiting_seconds_total, 0.1);
  t.steady(MetricId::threads, 3);
  t.steady(MetricId::memory_peak_bytes, 5);
  t.steady(MetricId::cpu_usage_seconds_total, 1);
  t.steady(MetricId::energy_joules_total, 9, Scope::node);
  t.steady(MetricId::temperature_celsius, 60, Scope::node);
  t.steady(MetricId::load1, 2, Scope::node);
  t.steady(MetricId::profiler_cpu_seconds_total, 1, Scope::profiler);
  const auto analysis = t.analyze();
  EXPECT_EQ(names(analysis.footprint),
            (std::vector<std::string>{"cpu_cores", "memory_bytes", "threads",
                                      "disk_read_bytes_per_second", "pressure_io_waiting_ratio",
                                      "power_watts"}));
  EXPECT_EQ(names(analysis.node),
            (std::vector<std::string>{"load1", "temperature_celsius", "power_watts"}));
}

TEST(Footprint, says_that_power_is_that_of_the_whole_node) {
  TestRun t;
  t.add(describe(MetricId::energy_joules_total, Scope::node, "RAPL package-0",
                 {{"domain", "package-0"}}),
        {{0, 0}, {60, 600}});
  EXPECT_DOUBLE_EQ(line(t, "power_watts").mean, 10);
  EXPECT_EQ(line(t, "power_watts").source, "whole node: RAPL package-0");
  EXPECT_DOUBLE_EQ(find(t.analyze().node, "power_watts")->mean, 10);
}

TEST(Footprint, has_the_exact_mean_of_a_counter_whatever_the_beat) {
  TestRun t;
  t.add(describe(MetricId::cpu_usage_seconds_total, Scope::app, "test"),
        {{0, 2}, {1, 3}, {1.7, 9}, {40, 10}, {60, 62}});
  EXPECT_DOUBLE_EQ(line(t, "cpu_cores").mean, 1);
  EXPECT_EQ(line(t, "cpu_cores").unit, "cores");
}

TEST(Footprint, adds_up_series_that_differ_in_labels_and_takes_the_hottest_sensor) {
  TestRun t;
  for (const char* disk : {"sda", "sdb"}) {
    t.add(describe(MetricId::disk_read_bytes_total, Scope::app, "io.stat", {{"disk", disk}}),
          {{0, 0}, {60, 600}});
  }
  t.add(describe(MetricId::temperature_celsius, Scope::node, "zone0", {{"sensor", "a"}}),
        {{0, 50}});
  t.add(describe(MetricId::temperature_celsius, Scope::node, "zone1", {{"sensor", "b"}}),
        {{0, 70}});
  EXPECT_DOUBLE_EQ(line(t, "disk_read_bytes_per_second").mean, 20);
  EXPECT_EQ(line(t, "disk_read_bytes_per_second").source, "io.stat");
  EXPECT_EQ(find(t.analyze().node, "temperature_celsius")->peak, 70);
  EXPECT_EQ(find(t.analyze().node, "temperature_celsius")->source, "zone0, zone1");
}

TEST(Footprint, leaves_the_warm_up_out) {
  TestRun t;
  t.run.target.warmup = std::chrono::seconds(10);
  add_memory(t, MetricId::memory_bytes, {{0, 900}, {10, 100}});
  t.add(describe(MetricId::cpu_usage_seconds_total, Scope::app, "test"),
        {{0, 0}, {20, 80}, {60, 120}});
  EXPECT_EQ(line(t, "memory_bytes").peak, 100);
  EXPECT_DOUBLE_EQ(line(t, "cpu_cores").mean, (10 * 4 + 40 * 1) / 50.0);
  EXPECT_FALSE(t.advises("warm-up"));
}

TEST(Footprint, counts_all_of_a_run_that_is_shorter_than_its_warm_up) {
  TestRun t;
  t.run.target.warmup = std::chrono::seconds(60);
  t.steady(MetricId::memory_bytes, 100);
  EXPECT_EQ(line(t, "memory_bytes").peak, 100);
  EXPECT_TRUE(t.advises("warm-up lasts longer"));
}

TEST(Footprint, of_a_run_too_short_to_sample_comes_from_the_kernels_totals) {
  TestRun t;
  t.run.ended = at(0.05);
  t.run.exit.user_seconds = 0.03;
  t.run.exit.system_seconds = 0.01;
  t.run.exit.max_rss_bytes = 12'000'000;
  const auto analysis = t.analyze();
  EXPECT_EQ(names(analysis.footprint),
            (std::vector<std::string>{"cpu_cores", "cpu_user_cores", "cpu_system_cores",
                                      "memory_bytes", "memory_rss_bytes"}));
  EXPECT_NEAR(line(t, "cpu_cores").mean, 0.8, 1e-9);
  EXPECT_EQ(line(t, "cpu_cores").source, "kernel's totals at exit");
  EXPECT_EQ(analysis.answer, "needs 0.8 cores and 12 MB");
}

TEST(Footprint, mean_cores_are_those_of_the_kernels_total_when_samples_missed_some) {
  TestRun t;
  t.run.ended = at(10);
  t.run.exit.user_seconds = 18;
  t.run.exit.system_seconds = 2;
  t.add(describe(MetricId::cpu_usage_seconds_total, Scope::app, "cpu.stat"), {{0, 0}, {9, 9}});
  EXPECT_DOUBLE_EQ(line(t, "cpu_cores").mean, 2);
  EXPECT_DOUBLE_EQ(line(t, "cpu_cores").peak, 2);
  EXPECT_DOUBLE_EQ(line(t, "cpu_cores").p95, 1);
  EXPECT_EQ(line(t, "cpu_cores").source, "cpu.stat; kernel's totals at exit");
  t.run.exit.user_seconds = 1;
  EXPECT_DOUBLE_EQ(line(t, "cpu_cores").mean, 1)
      << "children that nobody waited for are in the samples only";
  t.run.exit.user_seconds = 18;
  t.run.target.warmup = std::chrono::seconds(1);
  EXPECT_DOUBLE_EQ(line(t, "cpu_cores").mean, 1) << "a total cannot be cut at the warm-up";
}

TEST(Footprint, mean_cores_are_those_of_the_kernels_total_when_samples_missed_the_idle_start) {
  TestRun t;
  t.run.runtime = "process";
  t.run.ended = at(10);
  t.run.exit.user_seconds = 8;
  t.run.exit.system_seconds = 0;
  t.add(describe(MetricId::cpu_usage_seconds_total, Scope::app, "cpu.stat"), {{2, 0}, {10, 8}});
  EXPECT_DOUBLE_EQ(line(t, "cpu_cores").mean, 0.8);
  EXPECT_DOUBLE_EQ(line(t, "cpu_cores").min, 0.8);
  EXPECT_DOUBLE_EQ(line(t, "cpu_cores").peak, 1);
  t.run.exit.user_seconds = 7;
  EXPECT_DOUBLE_EQ(line(t, "cpu_cores").mean, 1) << "the total lacks what the samples saw";
}

TEST(Footprint, mean_cores_are_those_of_the_samples_when_nobody_read_the_total_at_the_end) {
  TestRun t;
  t.run.runtime = "kubernetes";
  t.run.ended = at(100);
  t.run.exit.user_seconds = 50;
  t.run.exit.system_seconds = 0;
  t.add(describe(MetricId::cpu_usage_seconds_total, Scope::app, "agent on n1"), {{0, 0}, {50, 50}});
  EXPECT_DOUBLE_EQ(line(t, "cpu_cores").mean, 1);
  EXPECT_EQ(line(t, "cpu_cores").source, "agent on n1");
}

TEST(Footprint, raises_the_memory_peak_to_the_largest_process_at_exit) {
  TestRun t;
  add_memory(t, MetricId::memory_bytes, {{0, 100}});
  add_memory(t, MetricId::memory_rss_bytes, {{0, 300}});
  t.run.exit.max_rss_bytes = 200;
  EXPECT_EQ(line(t, "memory_bytes").peak, 200);
  EXPECT_EQ(line(t, "memory_bytes").p99, 100);
  EXPECT_EQ(line(t, "memory_rss_bytes").peak, 300);
}

TEST(Footprint, leaves_the_peak_of_a_control_group_within_what_it_was_charged) {
  TestRun t;
  add_memory(t, MetricId::memory_bytes, {{0, 100}}, "cgroup v2 memory.current");
  t.run.exit.max_rss_bytes = 200;
  EXPECT_EQ(line(t, "memory_bytes").peak, 100);
  EXPECT_EQ(line(t, "memory_rss_bytes").peak, 200);
}

TEST(Footprint, takes_file_cache_off_the_control_groups_mark) {
  TestRun t;
  add_memory(t, MetricId::memory_bytes, {{0, 100}});
  add_memory(t, MetricId::memory_peak_bytes, {{0, 10}, {61, 1000}}, "cgroup v2 memory.peak");
  EXPECT_EQ(line(t, "memory_bytes").peak, 100) << "the cache is not known, so nothing is certain";
  add_memory(t, MetricId::memory_cache_bytes, {{0, 700}});
  EXPECT_EQ(line(t, "memory_bytes").peak, 300);
  EXPECT_EQ(line(t, "memory_bytes").source, "test; cgroup v2 memory.peak");
}

TEST(Footprint, believes_the_mark_of_processes_as_it_is) {
  TestRun t;
  add_memory(t, MetricId::memory_bytes, {{0, 100}});
  add_memory(t, MetricId::memory_peak_bytes, {{0, 10}, {60, 130}}, "/proc VmHWM");
  EXPECT_EQ(line(t, "memory_bytes").peak, 130);
}

TEST(Footprint, ignores_a_mark_that_was_set_in_the_warm_up) {
  TestRun t;
  t.run.target.warmup = std::chrono::seconds(10);
  t.run.exit.max_rss_bytes = 900;
  add_memory(t, MetricId::memory_bytes, {{0, 100}});
  add_memory(t, MetricId::memory_peak_bytes, {{5, 900}, {60, 900}}, "/proc VmHWM");
  EXPECT_EQ(line(t, "memory_bytes").peak, 100);
  add_memory(t, MetricId::memory_peak_bytes, {{60, 950}}, "/proc VmHWM");
  EXPECT_EQ(line(t, "memory_bytes").peak, 950);
}

TEST(Footprint, of_what_ran_already_ignores_a_mark_from_before) {
  TestRun t;
  t.run.isolation = "attached";
  add_memory(t, MetricId::memory_bytes, {{0, 100}});
  add_memory(t, MetricId::memory_peak_bytes, {{0.1, 900}, {60, 900}}, "/proc VmHWM");
  EXPECT_EQ(line(t, "memory_bytes").peak, 100);
  add_memory(t, MetricId::memory_peak_bytes, {{60, 950}}, "/proc VmHWM");
  EXPECT_EQ(line(t, "memory_bytes").peak, 950);
}

TEST(Footprint, of_a_run_whose_end_nobody_recorded_ends_with_its_last_sample) {
  TestRun t;
  t.steady(MetricId::memory_bytes, 100);
  t.run.status = RunStatus::interrupted;
  t.run.ended = Timestamp();
  EXPECT_EQ(line(t, "memory_bytes").mean, 100);
  EXPECT_EQ(t.analyze().answer, "was interrupted after 1 min 0 s; until then it needed 100 B");
}

TEST(Needs, have_lines_of_their_own_by_name) {
  TestRun t;
  t.steady(MetricId::cpu_usage_seconds_total, 1.5);
  t.add(describe(MetricId::memory_bytes, Scope::need, "test", {{"need", "broker"}}),
        {{0, 100}, {30, 300}});
  t.add(describe(MetricId::memory_bytes, Scope::need, "test", {{"need", "model"}}),
        {{0, 5}, {30, 7}});
  const auto analysis = t.analyze();
  ASSERT_EQ(analysis.needs.size(), 2U);
  EXPECT_EQ(analysis.needs[0].first, "broker");
  EXPECT_EQ(find(analysis.needs[0].second, "memory_bytes")->peak, 300);
  EXPECT_EQ(analysis.needs[1].first, "model");
  EXPECT_EQ(find(analysis.needs[1].second, "memory_bytes")->peak, 7);
  EXPECT_EQ(find(analysis.footprint, "memory_bytes"), nullptr);
  EXPECT_EQ(find(analysis.footprint, "cpu_cores")->mean, 1.5);
}

}  // namespace
}  // namespace assay::analysis
