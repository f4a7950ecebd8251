// SPDX-License-Identifier: Apache-2.0
#include "recorder.h"

#include <string>

#include <gtest/gtest.h>

namespace assay::hooks {
namespace {

constexpr double kNow = 1'700'000'000;

class Recording : public testing::Test {
 protected:
  void record(std::string_view name, double value, double time = kNow, pid_t pid = 7) {
    Reading reading;
    reading.name = name;
    reading.value = value;
    reading.time = time;
    record(reading, pid);
  }
  void record(const Reading& reading, pid_t pid = 7) {
    recorder_.record(reading, {pid, "reported by pid " + std::to_string(pid)},
                     {clock_.now(), clock_.wall()}, losses_);
  }

  ManualClock clock_{Timestamp(from_seconds(kNow))};
  MemorySeries sink_;
  Losses losses_;
  Recorder recorder_{sink_, 20};
};

TEST_F(Recording, declares_events_of_the_app_with_their_source) {
  record("fps", 12.5);
  const Series* fps = sink_.find("fps");
  ASSERT_NE(fps, nullptr);
  EXPECT_EQ(fps->info.kind, Kind::event);
  EXPECT_EQ(fps->info.scope, Scope::app);
  EXPECT_EQ(fps->info.source, "reported by pid 7");
  EXPECT_EQ(fps->values, (std::vector<double>{12.5}));
  EXPECT_EQ(recorder_.latest(), (std::map<std::string, double>{{"fps", 12.5}}));
}

TEST_F(Recording, takes_the_unit_that_was_told_or_that_the_kind_implies) {
  const auto unit_of = [&](std::string_view name, std::string_view unit, std::string_view kind) {
    record({name, 1, kNow, unit, kind});
    return sink_.find(name)->info.unit;
  };
  EXPECT_EQ(unit_of("a", "frames", "rate"), "frames");
  EXPECT_EQ(unit_of("b", "", "timer"), "seconds");
  EXPECT_EQ(unit_of("c", "", "rate"), "per second");
  EXPECT_EQ(unit_of("d", "a\nb", ""), "");
  EXPECT_EQ(unit_of("e", std::string(kMaxUnit + 1, 'u'), "number"), "");
}

TEST_F(Recording, keeps_times_and_sizes_in_base_units) {
  record({"latency", 250, kNow, "ms", "number"});
  EXPECT_EQ(sink_.find("latency")->info.unit, "seconds");
  EXPECT_DOUBLE_EQ(sink_.find("latency")->values.at(0), 0.25);
  EXPECT_DOUBLE_EQ(recorder_.latest().at("latency"), 0.25);
  record({"heap", 2, kNow, "MiB", "number"});
  EXPECT_EQ(sink_.find("heap")->info.unit, "bytes");
  EXPECT_DOUBLE_EQ(sink_.find("heap")->values.at(0), 2097152);
  record({"depth", 3, kNow, "m", "number"});
  EXPECT_EQ(sink_.find("depth")->info.unit, "m") << "metres, not minutes";
}

TEST_F(Recording, keeps_five_digits_of_times_and_all_of_other_numbers) {
  for (const double seconds : {0.02412345678912345, 2.5e-7, 1.23456789e-5, 999.9996, 12345.678}) {
    record({"latency", seconds, kNow, "", "timer"});
  }
  record({"ratio", 0.02412345678912345, kNow, "", "number"});
  EXPECT_EQ(sink_.find("latency")->values,
            (std::vector<double>{0.024123, 2.5e-7, 1.2346e-5, 1000, 12345.678}));
  EXPECT_EQ(sink_.find("ratio")->values, (std::vector<double>{0.02412345678912345}));
}

TEST_F(Recording, goes_by_the_unit_of_each_value) {
  record({"latency", 5, kNow, "ms", ""});
  record({"latency", 0.006, kNow, "s", ""});
  record({"latency", 7, kNow, "", ""});
  record({"latency", 8, kNow, "MB", ""});
  EXPECT_EQ(sink_.find("latency")->values, (std::vector<double>{0.005, 0.006, 0.007}));
  EXPECT_EQ(losses_.count(Trouble::other_unit), 1U);
}

TEST_F(Recording, marks_totals) {
  record({"animals", 3, kNow, "", "counter"});
  record({"fps", 3, kNow, "", "rate"});
  EXPECT_EQ(sink_.find("animals")->info.labels, (Labels{{"kind", "counter"}}));
  EXPECT_TRUE(sink_.find("fps")->info.labels.empty());
}

TEST_F(Recording, keeps_plausible_times_and_replaces_the_others) {
  const auto time_of = [&](std::string_view name, double time) {
    record(name, 1, time);
    return seconds(sink_.find(name)->times.at(0).time_since_epoch());
  };
  EXPECT_DOUBLE_EQ(time_of("recent", kNow - 3599), kNow - 3599);
  EXPECT_DOUBLE_EQ(time_of("ahead", kNow + 59), kNow) << "nobody knows the future";
  EXPECT_EQ(losses_.total(), 0U);
  EXPECT_DOUBLE_EQ(time_of("old", kNow - 3601), kNow);
  EXPECT_DOUBLE_EQ(time_of("future", kNow + 61), kNow);
  EXPECT_DOUBLE_EQ(time_of("negative", -5), kNow);
  EXPECT_DOUBLE_EQ(time_of("milliseconds", kNow * 1000), kNow);
  EXPECT_DOUBLE_EQ(time_of("huge", 1e300), kNow);
  EXPECT_EQ(losses_.count(Trouble::bad_time), 5U);
}

TEST_F(Recording, a_step_of_the_wall_clock_does_not_shift_events) {
  const auto step = [&](Nanoseconds by) {
    clock_.advance(std::chrono::seconds(10));
    clock_.step(by);
    record("fps", 1, seconds(clock_.wall().time_since_epoch()) - 0.25);
    return seconds(clock_.now() - sink_.find("fps")->times.back());
  };
  EXPECT_NEAR(step(std::chrono::seconds(0)), 0.25, 1e-6);
  EXPECT_NEAR(step(std::chrono::seconds(30)), 0.25, 1e-6) << "set forward";
  EXPECT_NEAR(step(std::chrono::seconds(-45)), 0.25, 1e-6) << "set back";
  EXPECT_NEAR(step(std::chrono::hours(100)), 0.25, 1e-6) << "by days";
  EXPECT_EQ(losses_.total(), 0U);
}

TEST_F(Recording, what_was_stamped_before_the_clock_was_set_back_counts_as_now) {
  clock_.step(std::chrono::seconds(-20));
  record("fps", 1, kNow - 0.25);
  EXPECT_EQ(sink_.find("fps")->times.back(), clock_.now());
  EXPECT_EQ(losses_.total(), 0U);
}

TEST_F(Recording, times_of_a_series_never_go_back) {
  record("fps", 1, kNow - 10);
  record("fps", 2, kNow - 20);
  record("fps", 3, kNow - 5);
  const Series& fps = *sink_.find("fps");
  EXPECT_EQ(fps.times.at(1), fps.times.at(0));
  EXPECT_LT(fps.times.at(1), fps.times.at(2));
}

TEST_F(Recording, gives_each_process_its_own_series_up_to_a_bound) {
  const auto processes = static_cast<pid_t>(Recorder::kCallersPerName + 10);
  for (pid_t pid = 1; pid <= processes; ++pid) record("fps", pid, kNow, pid);
  record("fps", 100, kNow, 1);
  const auto list = sink_.list();
  ASSERT_EQ(list.size(), Recorder::kCallersPerName + 1);
  EXPECT_EQ(list.back().source, "reported by several processes");
  EXPECT_EQ(sink_.read(list.size() - 1)->values.size(), 10U);
  EXPECT_EQ(sink_.read(0)->values, (std::vector<double>{1, 100}));
}

TEST_F(Recording, refuses_bad_and_too_many_names) {
  record("", 1);
  record("a\nb", 1);
  record("\xff", 1);
  EXPECT_EQ(losses_.count(Trouble::bad_name), 3U);
  record("cpu_cores", 1);
  record("memory_bytes", 1);
  EXPECT_EQ(losses_.count(Trouble::reserved_name), 2U) << "what we measure cannot be claimed";
  for (int i = 0; i < 25; ++i) record("n" + std::to_string(i), 1);
  EXPECT_EQ(losses_.count(Trouble::too_many_names), 5U);
  EXPECT_EQ(sink_.list().size(), 20U);
}

}  // namespace
}  // namespace assay::hooks
