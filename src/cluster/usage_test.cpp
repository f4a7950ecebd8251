// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include <assay/cluster/usage.h>
#include <gtest/gtest.h>

namespace assay::cluster {
namespace {

TEST(Usage, has_last_max_mean_and_percentiles) {
  Usage usage;
  for (int i = 1; i <= 100; ++i) usage.add(i);
  EXPECT_EQ(usage.count(), 100u);
  EXPECT_EQ(usage.last(), 100);
  EXPECT_EQ(usage.max(), 100);
  EXPECT_DOUBLE_EQ(usage.mean(), 50.5);
  EXPECT_NEAR(usage.p95(), 95, 0.02 * 95 + 1);
  EXPECT_NEAR(usage.percentile(0.5), 50, 0.02 * 50 + 1);
}

TEST(Usage, of_nothing_is_zero) {
  const Usage usage;
  EXPECT_EQ(usage.mean(), 0);
  EXPECT_EQ(usage.p95(), 0);
}

TEST(Usage, of_one_value_mean_and_percentiles_are_that_value) {
  for (double value = 1e-9; value < 1e12; value *= 1.013) {
    Usage usage;
    usage.add(value);
    EXPECT_EQ(usage.mean(), value);
    EXPECT_EQ(usage.p95(), value);
  }
}

TEST(Usage, values_that_are_all_the_same_have_no_other_percentiles) {
  for (const double value : {0.1, 0.7, 37.4, 99.9, 1.3e9}) {
    Usage usage;
    for (int i = 0; i < 1000; ++i) usage.add(value);
    EXPECT_DOUBLE_EQ(usage.p95(), value);
    EXPECT_LE(usage.mean(), usage.p95());
    EXPECT_LE(usage.p95(), usage.max());
  }
}

TEST(Usage, percentiles_are_between_the_least_and_the_largest_value_and_in_order) {
  std::mt19937_64 random(11);
  std::lognormal_distribution<double> values(0, 0.02);
  for (int size = 1; size < 200; ++size) {
    Usage usage;
    std::vector<double> all;
    for (int i = 0; i < size; ++i) usage.add(all.emplace_back(values(random)));
    std::sort(all.begin(), all.end());
    EXPECT_LE(all.front(), usage.mean());
    EXPECT_LE(usage.mean(), usage.max());
    EXPECT_LE(usage.percentile(0.5), usage.p95());
    EXPECT_LE(usage.p95(), usage.max());
    const double exact = all[static_cast<size_t>(std::ceil(0.95 * size)) - 1];
    EXPECT_NEAR(usage.p95(), exact, 0.0201 * exact) << size;
  }
}

TEST(Usage, what_is_no_amount_is_not_taken) {
  Usage usage;
  usage.add(-1);
  usage.add(std::numeric_limits<double>::quiet_NaN());
  usage.add(std::numeric_limits<double>::infinity());
  EXPECT_EQ(usage.count(), 0u);
  usage.add(0);
  EXPECT_EQ(usage.count(), 1u);
  EXPECT_EQ(usage.p95(), 0);
}

TEST(Usage, percentiles_are_two_percent_off_at_most) {
  std::mt19937_64 random(7);
  std::lognormal_distribution<double> values(3, 2);
  Usage usage;
  std::vector<double> all;
  for (int i = 0; i < 20'000; ++i) usage.add(all.emplace_back(values(random)));
  std::sort(all.begin(), all.end());
  for (const double share : {0.9, 0.95, 0.99}) {
    const double exact = all[static_cast<size_t>(std::ceil(share * 20'000)) - 1];
    EXPECT_NEAR(usage.percentile(share), exact, 0.0201 * exact) << share;
  }
}

TEST(Usage, of_workers_can_be_put_together) {
  Usage all, one, two;
  for (int i = 0; i < 1000; ++i) {
    all.add(i % 50);
    (i % 3 ? one : two).add(i % 50);
  }
  one.merge(two);
  EXPECT_EQ(one.count(), all.count());
  EXPECT_DOUBLE_EQ(one.mean(), all.mean());
  EXPECT_EQ(one.p95(), all.p95());
  one.merge(Usage());
  EXPECT_EQ(one.last(), two.last());
}

TEST(Usage, goes_on_after_what_was_before) {
  Usage before, now;
  for (const double value : {8.0, 2.0}) before.add(value);
  now.add(5);
  now.precede(before);
  EXPECT_EQ(now.count(), 3u);
  EXPECT_EQ(now.max(), 8);
  EXPECT_EQ(now.last(), 5);
  EXPECT_DOUBLE_EQ(now.mean(), 5);
}

TEST(Usage, of_two_who_saw_the_same_counts_once) {
  Usage more, less;
  for (int i = 0; i < 10; ++i) more.add(1);
  less.add(7);
  for (auto [one, other] : {std::pair(more, less), std::pair(less, more)}) {
    const double last = one.last();
    one.reconcile(other);
    EXPECT_EQ(one.count(), 10u);
    EXPECT_EQ(one.max(), 7);
    EXPECT_EQ(one.last(), last);
  }
}

TEST(Usage, is_kept_as_text) {
  Usage usage;
  for (int i = 0; i < 300; ++i) usage.add(std::pow(1.1, i));
  const auto again = Usage::from_text(usage.to_text());
  ASSERT_TRUE(again);
  EXPECT_EQ(again->count(), 300u);
  EXPECT_EQ(again->p95(), usage.p95());
  EXPECT_EQ(again->mean(), usage.mean());
  EXPECT_EQ(again->to_text(), usage.to_text());
  for (const char* bad : {"", "{", "{}", "[]", R"({"sum":1,"last":1,"max":1,"buckets":[[1]]})"})
    EXPECT_FALSE(Usage::from_text(bad)) << bad;
}

}  // namespace
}  // namespace assay::cluster
