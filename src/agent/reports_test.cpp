// SPDX-License-Identifier: Apache-2.0
#include "reports.h"

#include "families/families.h"
#include "testing/machine.h"

#include <assay/promapi/exposition.h>
#include <gtest/gtest.h>

namespace assay::agent {
namespace {

using hooks::ReportKind;
using std::chrono::minutes;
using std::chrono::seconds;

const std::string kPath = "/docker/" + std::string(64, 'a');

class ReportsTest : public ::testing::Test {
 protected:
  ReportsTest() {
    machine.make_group(kPath, 0, 0);
    machine.write("/proc/41/cgroup", "0::" + kPath + "/inner\n");
    machine.write("/proc/42/cgroup", "0::" + kPath + "\n");
    machine.write("/proc/77/cgroup", "0::/\n");
    table.group_appeared(kPath);
  }
  hooks::CallerId connect(pid_t pid, const std::string& command = "detect") {
    return reports.caller_connected({.pid = pid, .command = command});
  }
  double value_of(const std::string& name) { return reports.of(kPath)->reports.at(name)->value; }
  std::string exposed() {
    promapi::Exposition out;
    out.start(promapi::TextFormat::classic);
    write_reports(out, reports);
    return std::string(out.finish());
  }

  testing::Machine machine;
  ManualClock clock{from_unix_ns(1'700'000'000'000'000'000)};
  LiveTable table{machine.root(), clock, {}};
  Reports reports{clock, table, seconds(60)};
};

TEST_F(ReportsTest, belong_to_the_app_in_whose_group_the_caller_is) {
  const auto caller = connect(41);
  const auto fps = reports.declare(caller, {"fps", "per second", ReportKind::rate});
  reports.value(caller, fps, clock.now(), 12.5);
  EXPECT_DOUBLE_EQ(value_of("fps"), 12.5);
  EXPECT_NE(exposed().find(R"(assay_app_fps{app="aaaaaaaaaaaa",id=")" + kPath), std::string::npos)
      << exposed();
}

TEST_F(ReportsTest, of_a_process_without_an_app_have_its_name) {
  const auto caller = connect(77, "lonely");
  const auto report = reports.declare(caller, {"fps", "", ReportKind::number});
  reports.value(caller, report, clock.now(), 3);
  EXPECT_NE(exposed().find(R"(assay_app_fps{app="lonely",id="/process/lonely",name="lonely"} 3)"),
            std::string::npos)
      << exposed();
}

TEST_F(ReportsTest, of_several_processes_add_up_as_rates_and_counters) {
  const auto one = connect(41);
  const auto two = connect(42);
  const hooks::ReportInfo rate{"fps", "per second", ReportKind::rate};
  const hooks::ReportInfo counter{"frames", "", ReportKind::counter};
  reports.value(one, reports.declare(one, rate), clock.now(), 10);
  reports.value(two, reports.declare(two, rate), clock.now(), 5);
  const auto frames_of_one = reports.declare(one, counter);
  reports.value(one, frames_of_one, clock.now(), 100);
  reports.value(two, reports.declare(two, counter), clock.now(), 7);
  reports.value(one, frames_of_one, clock.now(), 101);
  EXPECT_DOUBLE_EQ(value_of("fps"), 15);
  EXPECT_DOUBLE_EQ(value_of("frames"), 108);
  reports.caller_gone(two);
  EXPECT_DOUBLE_EQ(value_of("fps"), 10) << "who has gone has no rate any more";
  EXPECT_DOUBLE_EQ(value_of("frames"), 108) << "but what it counted stays";
  EXPECT_NE(exposed().find("# TYPE assay_app_frames_total counter"), std::string::npos);
}

TEST_F(ReportsTest, timers_become_histograms) {
  const auto caller = connect(41);
  const auto latency = reports.declare(caller, {"latency", "seconds", ReportKind::timer});
  hooks::Histogram added;
  for (int i = 0; i < 100; ++i) added.add((i + 0.5) * 0.001);
  reports.durations(caller, latency, clock.now(), added);
  const Report& report = *reports.of(kPath)->reports.at("latency");
  EXPECT_NEAR(*statistic(report, "p95", clock.now()), 0.0945, 0.000945);
  EXPECT_NEAR(*statistic(report, "mean", clock.now()), 0.05, 1e-9);
  clock.advance(minutes(2));
  EXPECT_FALSE(statistic(report, "p95", clock.now())) << "of the last minute";
  const std::string text = exposed();
  EXPECT_NE(text.find("# TYPE assay_app_latency_seconds histogram"), std::string::npos);
  EXPECT_NE(text.find(R"(le="0.05"} 50)"), std::string::npos) << text;
  EXPECT_NE(text.find("assay_app_latency_seconds_count"), std::string::npos);
}

TEST_F(ReportsTest, one_name_of_two_kinds_is_one_family) {
  const auto one = connect(41);
  const auto other = connect(77, "lonely");
  reports.value(one, reports.declare(one, {"latency_seconds", "", ReportKind::number}), clock.now(),
                1);
  hooks::Histogram added;
  added.add(1);
  reports.durations(other, reports.declare(other, {"latency", "seconds", ReportKind::timer}),
                    clock.now(), added);
  const std::string text = exposed();
  size_t types = 0;
  for (size_t at = text.find("# TYPE assay_app_latency"); at != text.npos;
       at = text.find("# TYPE assay_app_latency", at + 1))
    ++types;
  EXPECT_EQ(types, 1U) << text;
}

TEST_F(ReportsTest, and_their_losses_go_with_the_app) {
  const auto caller = connect(41);
  reports.declare(caller, {"fps", "", ReportKind::number});
  reports.lost(caller, "too many names", 3);
  reports.caller_gone(caller);
  machine.remove_group(kPath);
  table.group_gone(kPath);
  clock.advance(seconds(60));
  table.beat();
  reports.beat();
  EXPECT_TRUE(reports.apps().empty());
  ASSERT_EQ(reports.losses().size(), 1U);
  EXPECT_EQ(reports.losses()[0], (Loss{"apps that are gone", "too many names", 3}));
}

TEST_F(ReportsTest, a_place_of_a_caller_is_used_again) {
  for (int i = 0; i < 100; ++i) {
    const auto caller = connect(41);
    EXPECT_EQ(static_cast<uint32_t>(caller), 0U);
    reports.caller_gone(caller);
  }
}

}  // namespace
}  // namespace assay::agent
