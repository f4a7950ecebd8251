// SPDX-License-Identifier: Apache-2.0
#include "distribution.h"

#include "test_run.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

namespace assay::analysis {
namespace {

const SeriesInfo kCpu = describe(MetricId::cpu_usage_seconds_total, Scope::app, "test");
const SeriesInfo kMemory = describe(MetricId::memory_bytes, Scope::app, "test");

void expect_ordered(const Distribution& d) {
  EXPECT_LE(d.min, d.p50);
  EXPECT_LE(d.p50, d.p95);
  EXPECT_LE(d.p95, d.p99);
  EXPECT_LE(d.p99, d.peak);
  EXPECT_LE(d.min, d.mean);
  EXPECT_LE(d.mean, d.peak);
}

TEST(Distribution, weights_a_gauge_by_the_time_it_held) {
  const auto d =
      distribution(make_series(kMemory, {{0, 100}, {9, 500}, {9.5, 100}}), at(0), at(10));
  EXPECT_DOUBLE_EQ(d.mean, 120);
  EXPECT_EQ(d.p50, 100);
  EXPECT_EQ(d.p95, 100);
  EXPECT_EQ(d.p99, 500);
  EXPECT_EQ(d.peak, 500);
  EXPECT_EQ(d.min, 100);
  EXPECT_EQ(d.count, 3U);
  EXPECT_EQ(d.unit, "bytes");
  EXPECT_EQ(d.source, "test");
}

TEST(Distribution, weights_a_rate_by_the_interval_before_its_sample) {
  const Series shown = as_shown(make_series(kCpu, {{0, 0}, {1, 1}, {2, 4}, {5, 4}}));
  const auto d = distribution(shown, at(0), at(5));
  EXPECT_DOUBLE_EQ(d.mean, 0.8);
  EXPECT_EQ(d.p50, 0);
  EXPECT_EQ(d.peak, 3);
}

TEST(Distribution, counts_a_rate_that_straddles_the_warm_up_for_the_part_after_it) {
  const Series shown = as_shown(make_series(kCpu, {{0, 0}, {2, 8}, {4, 10}}));
  const auto d = distribution(shown, at(1), at(4));
  EXPECT_DOUBLE_EQ(d.mean, (4.0 * 1 + 1.0 * 2) / 3);
  EXPECT_EQ(d.p50, 1);
  EXPECT_EQ(distribution(shown, at(2), at(4)).peak, 1);
}

TEST(Distribution, counts_a_gauge_from_before_the_warm_ups_end_for_the_part_after_it) {
  const auto d = distribution(make_series(kMemory, {{0, 10}, {4, 20}}), at(3), at(5));
  EXPECT_DOUBLE_EQ(d.mean, 15);
  EXPECT_EQ(d.min, 10);
}

TEST(Distribution, gives_every_event_one_weight) {
  const Series events =
      make_series(event_info("fps"), {{0, 99}, {1, 1}, {1.1, 2}, {1.2, 3}, {50, 4}});
  const auto d = distribution(events, at(1), at(60));
  EXPECT_DOUBLE_EQ(d.mean, 2.5);
  EXPECT_EQ(d.p50, 2);
  EXPECT_EQ(d.p95, 4);
  EXPECT_EQ(d.count, 4U);
}

TEST(Distribution, has_the_nearest_rank_as_percentile) {
  std::vector<double> values;
  for (int i = 100; i >= 1; --i) values.push_back(i);
  const auto d = distribution_of(values);
  EXPECT_EQ(d.p50, 50);
  EXPECT_EQ(d.p95, 95);
  EXPECT_EQ(d.p99, 99);
  EXPECT_EQ(d.peak, 100);
}

TEST(Distribution, of_nothing_has_count_zero) {
  EXPECT_EQ(distribution(make_series(kMemory, {}), at(0), at(5)).count, 0U);
  EXPECT_EQ(distribution(make_series(kMemory, {{9, 1}}), at(0), at(5)).count, 0U);
  EXPECT_EQ(distribution(make_series(event_info("fps"), {{0, NAN}}), at(0), at(5)).count, 0U);
}

TEST(Distribution, of_one_sample_at_the_very_end_is_that_sample) {
  const auto d = distribution(make_series(kMemory, {{5, 7}}), at(0), at(5));
  EXPECT_EQ(d.count, 1U);
  EXPECT_EQ(d.mean, 7);
  EXPECT_EQ(d.p95, 7);
}

TEST(Distribution, keeps_its_order_on_any_samples) {
  std::mt19937 random(7);
  std::lognormal_distribution<double> values(3, 2);
  std::uniform_real_distribution<double> gaps(0, 0.3);
  for (int round = 0; round < 50; ++round) {
    Points points;
    double second = 0;
    for (int i = 0; i < 5 * round + 1; ++i) {
      points.emplace_back(second, values(random));
      second += gaps(random);
    }
    for (const auto& info : {kMemory, kCpu, event_info("x")}) {
      const auto d = distribution(as_shown(make_series(info, points)), at(second / 5), at(second));
      expect_ordered(d);
      const auto whole = distribution(as_shown(make_series(info, points)), at(0), at(second));
      EXPECT_GE(whole.peak, d.peak);
    }
  }
}

TEST(Statistic, knows_its_six_names_and_no_other) {
  Distribution d;
  d.mean = 1;
  d.p50 = 2;
  d.p95 = 3;
  d.p99 = 4;
  d.peak = 5;
  d.min = 6;
  EXPECT_EQ(statistic(d, "mean"), 1);
  EXPECT_EQ(statistic(d, "p50"), 2);
  EXPECT_EQ(statistic(d, "p95"), 3);
  EXPECT_EQ(statistic(d, "p99"), 4);
  EXPECT_EQ(statistic(d, "peak"), 5);
  EXPECT_EQ(statistic(d, "min"), 6);
  EXPECT_FALSE(statistic(d, "p90"));
}

TEST(Find, gives_the_line_of_that_name_or_nothing) {
  const Lines lines = {{"a", single_value(1, "", "")}, {"b", single_value(2, "", "")}};
  EXPECT_EQ(find(lines, "b")->mean, 2);
  EXPECT_EQ(find(lines, "c"), nullptr);
}

}  // namespace
}  // namespace assay::analysis
