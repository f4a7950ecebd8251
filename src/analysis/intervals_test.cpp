// SPDX-License-Identifier: Apache-2.0
#include "intervals.h"

#include "test_run.h"

#include <cmath>

#include <gtest/gtest.h>

namespace assay::analysis {
namespace {

const SeriesInfo kCpu = describe(MetricId::cpu_usage_seconds_total, Scope::app, "test");
const SeriesInfo kMemory = describe(MetricId::memory_bytes, Scope::app, "test");

TEST(AsShown, turns_a_counter_into_its_rate_with_the_catalogues_name_and_unit) {
  const Series shown = as_shown(make_series(kCpu, {{0, 5}, {1, 6.5}, {3, 7.5}}));
  EXPECT_EQ(shown.info.name, "cpu_cores");
  EXPECT_EQ(shown.info.unit, "cores");
  EXPECT_EQ(shown.info.source, "test");
  EXPECT_EQ(shown.times, (std::vector<Timestamp>{at(1), at(3)}));
  EXPECT_EQ(shown.values, (std::vector<double>{1.5, 0.5}));
}

TEST(AsShown, changes_nothing_in_gauges_events_and_what_is_shown_already) {
  const Series gauge = make_series(kMemory, {{0, 5}, {1, 3}});
  EXPECT_EQ(as_shown(gauge).info, gauge.info);
  EXPECT_EQ(as_shown(gauge).values, gauge.values);
  const Series event = make_series(event_info("fps"), {{0, 5}, {1, 3}});
  EXPECT_EQ(as_shown(event).values, event.values);
  const Series shown = as_shown(make_series(kCpu, {{0, 0}, {1, 2}, {2, 4}}));
  EXPECT_EQ(as_shown(shown).info, shown.info);
  EXPECT_EQ(as_shown(shown).values, shown.values);
}

TEST(AsShown, names_the_rate_of_an_unknown_counter_after_it) {
  SeriesInfo info{"frames_total", "frames", Kind::counter, Scope::app, "test", {}};
  const Series shown = as_shown(make_series(info, {{0, 0}, {2, 30}}));
  EXPECT_EQ(shown.info.name, "frames_total_per_second");
  EXPECT_EQ(shown.info.unit, "frames per second");
  EXPECT_EQ(shown.values, std::vector<double>{15});
  EXPECT_EQ(as_shown(shown).info.name, "frames_total_per_second");
}

TEST(AsShown, leaves_out_the_interval_in_which_a_counter_steps_back) {
  const Series shown = as_shown(make_series(kCpu, {{0, 10}, {1, 12}, {2, 1}, {3, 4}}));
  EXPECT_EQ(shown.times, (std::vector<Timestamp>{at(1), at(3)}));
  EXPECT_EQ(shown.values, (std::vector<double>{2, 3}));
}

TEST(AsShown, skips_equal_times_and_values_that_are_no_number) {
  const Series shown = as_shown(make_series(kCpu, {{0, 0}, {0, 1}, {1, NAN}, {2, 4}, {2, 6}}));
  EXPECT_EQ(shown.times, std::vector<Timestamp>{at(2)});
  EXPECT_EQ(shown.values, std::vector<double>{2});
}

TEST(AsShown, gives_nothing_for_less_than_two_samples) {
  EXPECT_TRUE(as_shown(make_series(kCpu, {})).values.empty());
  EXPECT_TRUE(as_shown(make_series(kCpu, {{1, 5}})).values.empty());
}

// A tick of 10 ms within the millisecond between a late beat and the last one would show as 10
// cores.
TEST(RateIntervals, join_a_moment_to_its_neighbour) {
  const auto rates =
      rate_intervals(make_series(kCpu, {{0, 0}, {1, 1}, {2, 2}, {3, 3}, {4, 4}, {4.001, 4.01}}));
  ASSERT_EQ(rates.size(), 4U);
  EXPECT_EQ(rates.back().begin, at(3));
  EXPECT_EQ(rates.back().end, at(4.001));
  EXPECT_NEAR(rates.back().value, 1.01 / 1.001, 1e-9);
  const auto between =
      rate_intervals(make_series(kCpu, {{0, 0}, {1, 1}, {1.9, 2}, {2, 3}, {3, 3}, {4, 4}, {5, 5}}));
  ASSERT_EQ(between.size(), 5U);
  EXPECT_EQ(between[2].begin, at(1.9));
  EXPECT_EQ(between[2].end, at(3));
}

TEST(GaugeIntervals, hold_until_the_next_sample_and_the_last_until_the_end) {
  const auto levels = gauge_intervals(make_series(kMemory, {{1, 10}, {4, 20}}), at(10));
  ASSERT_EQ(levels.size(), 2U);
  EXPECT_EQ(levels[0].end, at(4));
  EXPECT_EQ(levels[1].end, at(10));
  EXPECT_EQ(gauge_intervals(make_series(kMemory, {{12, 10}}), at(10))[0].end, at(12));
}

TEST(Combine, adds_up_what_holds_at_each_moment) {
  const std::vector<Interval> a = {{at(0), at(2), 1}, {at(2), at(4), 3}};
  const std::vector<Interval> b = {{at(1), at(3), 10}};
  const auto sum = combine({a, b}, Combine::sum);
  ASSERT_EQ(sum.size(), 4U);
  EXPECT_EQ(sum[0].value, 1);
  EXPECT_EQ(sum[1].value, 11);
  EXPECT_EQ(sum[2].value, 13);
  EXPECT_EQ(sum[2].begin, at(2));
  EXPECT_EQ(sum[3].value, 3);
  EXPECT_EQ(combine({a, b}, Combine::mean)[1].value, 5.5);
  EXPECT_EQ(combine({a, b}, Combine::highest)[2].value, 10);
  EXPECT_TRUE(combine({}, Combine::sum).empty());
}

TEST(Combine, leaves_a_gap_where_no_part_has_a_value) {
  const auto sum = combine({{{at(0), at(1), 1}}, {{at(5), at(6), 2}}}, Combine::sum);
  ASSERT_EQ(sum.size(), 2U);
  EXPECT_EQ(sum[1].begin, at(5));
}

}  // namespace
}  // namespace assay::analysis
