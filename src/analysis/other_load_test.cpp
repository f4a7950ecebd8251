// SPDX-License-Identifier: Apache-2.0
#include "test_run.h"

#include <gtest/gtest.h>

namespace assay::analysis {
namespace {

using enum MetricId;

/// On four cores: the app uses 1.5, Assay 0.1, the node as many as the test says.
TestRun run_on(double node_cores) {
  TestRun t;
  t.steady(cpu_usage_seconds_total, 1.5);
  t.steady(profiler_cpu_seconds_total, 0.1, Scope::profiler);
  t.steady(cpu_usage_seconds_total, node_cores, Scope::node);
  return t;
}

TEST(OtherLoad, is_the_node_less_the_app_and_assay) {
  const auto analysis = run_on(2.9).analyze();
  const auto* cores = find(analysis.others, "cpu_cores");
  ASSERT_NE(cores, nullptr);
  EXPECT_NEAR(cores->mean, 1.3, 1e-9);
  EXPECT_NEAR(cores->peak, 1.3, 1e-9);
  EXPECT_EQ(cores->unit, "cores");
  EXPECT_EQ(cores->source, "test, less the app and Assay");
}

TEST(OtherLoad, is_not_what_the_app_needs_beside_itself) {
  TestRun t = run_on(2.9);
  t.steady(cpu_usage_seconds_total, 1.2, Scope::need);
  const auto analysis = t.analyze();
  EXPECT_NEAR(find(analysis.others, "cpu_cores")->mean, 0.1, 1e-9);
  EXPECT_EQ(find(analysis.others, "cpu_cores")->source,
            "test, less the app and what it needs and Assay");
  EXPECT_EQ(analysis.disturbed, false);
}

/// A total at exit above what was sampled is the app's, however busy its needs were.
TEST(OtherLoad, counts_what_no_sample_saw_of_the_app_also_beside_a_need) {
  TestRun t = run_on(4);
  t.steady(cpu_usage_seconds_total, 1, Scope::need);
  const double seconds_of_run = seconds(t.run.duration());
  t.run.exit.user_seconds = 2 * seconds_of_run;
  t.run.exit.system_seconds = 0;
  EXPECT_NEAR(find(t.analyze().others, "cpu_cores")->mean, 4 - 2 - 1 - 0.1, 1e-9);
}

TEST(OtherLoad, is_not_the_engine_of_the_apps_container) {
  TestRun t = run_on(2.9);
  t.run.runtime = "docker";
  t.run.others = {{"make", 0.1}, {"container engine", 1.2}};
  const auto analysis = t.analyze();
  EXPECT_NEAR(find(analysis.others, "cpu_cores")->mean, 0.1, 1e-9);
  EXPECT_EQ(find(analysis.others, "cpu_cores")->source,
            "test, less the app and Assay and the container engine");
  EXPECT_EQ(analysis.disturbed, false);
  t.run.runtime = "process";
  EXPECT_NEAR(find(t.analyze().others, "cpu_cores")->mean, 1.3, 1e-9);
}

TEST(OtherLoad, above_a_tenth_of_the_machine_disturbs_and_is_said) {
  const auto analysis = run_on(2.9).analyze();
  EXPECT_EQ(analysis.disturbed, true);
  EXPECT_EQ(analysis.disturbance,
            "others used 1.3 of 4 cores during the run: the numbers may be worse than on a quiet "
            "machine");
}

TEST(OtherLoad, up_to_a_tenth_of_the_machine_does_not_disturb) {
  EXPECT_EQ(run_on(1.99).analyze().disturbed, false);
  EXPECT_EQ(run_on(1.99).analyze().disturbance, "");
  EXPECT_EQ(run_on(2.01).analyze().disturbed, true);
}

TEST(OtherLoad, of_a_quarter_core_does_not_disturb_even_a_small_machine) {
  TestRun quiet = run_on(1.84);
  TestRun loaded = run_on(1.86);
  quiet.device.cores = 2;
  loaded.device.cores = 2;
  EXPECT_EQ(quiet.analyze().disturbed, false);
  EXPECT_EQ(loaded.analyze().disturbed, true);
}

TEST(OtherLoad, during_the_warm_up_does_not_count) {
  TestRun t;
  t.run.target.warmup = std::chrono::seconds(20);
  t.steady(cpu_usage_seconds_total, 1.5);
  Points node;
  for (int s = 0; s <= 60; ++s) node.emplace_back(s, s <= 20 ? 3.5 * s : 70 + 1.6 * (s - 20));
  t.add(describe(cpu_usage_seconds_total, Scope::node, "test"), node);
  EXPECT_NEAR(find(t.analyze().others, "cpu_cores")->mean, 0.1, 1e-9);
  EXPECT_EQ(t.analyze().disturbed, false);
}

TEST(OtherLoad, in_a_burst_shows_in_its_peak) {
  TestRun t;
  t.steady(cpu_usage_seconds_total, 1);
  Points node;
  double total = 0;
  for (int s = 0; s <= 60; ++s) node.emplace_back(s, total += s > 50 ? 4 : 1);
  t.add(describe(cpu_usage_seconds_total, Scope::node, "test"), node);
  const auto analysis = t.analyze();
  EXPECT_NEAR(find(analysis.others, "cpu_cores")->peak, 3, 1e-9);
  EXPECT_NEAR(find(analysis.others, "cpu_cores")->p50, 0, 1e-9);
  EXPECT_NEAR(find(analysis.others, "cpu_cores")->mean, 0.5, 1e-9);
}

TEST(OtherLoad, below_zero_by_rounding_is_none) {
  const auto analysis = run_on(1.55).analyze();
  EXPECT_EQ(find(analysis.others, "cpu_cores")->mean, 0);
  EXPECT_EQ(find(analysis.others, "cpu_cores")->min, 0);
  EXPECT_EQ(analysis.disturbed, false);
}

TEST(OtherLoad, has_the_disk_where_both_sides_were_measured_and_never_the_network) {
  TestRun t = run_on(1.6);
  t.steady(disk_read_bytes_total, 1e6);
  t.steady(disk_read_bytes_total, 5e6, Scope::node);
  t.steady(network_receive_bytes_total, 3e6, Scope::node);
  t.steady(network_receive_bytes_total, 1e6);
  const auto analysis = t.analyze();
  EXPECT_NEAR(find(analysis.others, "disk_read_bytes_per_second")->mean, 4e6, 1);
  EXPECT_EQ(find(analysis.others, "disk_read_bytes_per_second")->source, "test, less the app");
  EXPECT_EQ(find(analysis.others, "network_receive_bytes_per_second"), nullptr);
}

TEST(OtherLoad, is_unknown_without_the_app_or_the_node) {
  TestRun no_node;
  no_node.steady(cpu_usage_seconds_total, 1.5);
  EXPECT_EQ(no_node.analyze().disturbed, std::nullopt);
  TestRun no_app;
  no_app.steady(cpu_usage_seconds_total, 3.5, Scope::node);
  EXPECT_EQ(no_app.analyze().disturbed, std::nullopt);
  EXPECT_TRUE(no_app.analyze().others.empty());
}

TEST(OtherLoad, of_less_than_a_second_is_unknown) {
  TestRun t;
  t.run.ended = at(0.9);
  t.add(describe(cpu_usage_seconds_total, Scope::app, "test"), {{0, 0}, {0.9, 0.1}});
  t.add(describe(cpu_usage_seconds_total, Scope::node, "test"), {{0, 0}, {0.9, 2}});
  EXPECT_EQ(t.analyze().disturbed, std::nullopt);
}

TEST(OtherLoad, does_not_include_time_of_the_app_that_only_its_exit_told) {
  TestRun t = run_on(2.9);
  t.run.exit.user_seconds = 60 * 2.7;
  t.run.exit.system_seconds = 0;
  EXPECT_NEAR(find(t.analyze().others, "cpu_cores")->mean, 0.1, 1e-9);
}

}  // namespace
}  // namespace assay::analysis
