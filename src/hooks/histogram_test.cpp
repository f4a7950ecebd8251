// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <vector>

#include <assay/hooks/histogram.h>
#include <gtest/gtest.h>

namespace assay::hooks {
namespace {

std::vector<double> durations(size_t count) {
  std::mt19937 random(7);
  std::lognormal_distribution<double> spread(-7, 3);  // from microseconds to minutes
  std::vector<double> made(count);
  std::generate(made.begin(), made.end(),
                [&] { return std::clamp(spread(random), 1e-6, 10'000.0); });
  return made;
}

TEST(Durations, quantiles_are_at_most_one_percent_off) {
  std::vector<double> all = durations(20'001);
  Histogram histogram;
  double sum = 0;
  for (const double d : all) {
    histogram.add(d);
    sum += d;
  }
  std::sort(all.begin(), all.end());
  EXPECT_EQ(histogram.count(), all.size());
  EXPECT_DOUBLE_EQ(histogram.sum(), sum);
  for (const double q : {0.0, 0.01, 0.5, 0.9, 0.95, 0.99, 0.999, 1.0}) {
    const auto rank = std::max(1.0, std::ceil(q * static_cast<double>(all.size())));
    const double exact = all[static_cast<size_t>(rank) - 1];
    EXPECT_NEAR(histogram.quantile(q) / exact, 1, 0.01) << q;
  }
}

TEST(Durations, are_counted_up_to_bounds_as_prometheus_wants_them) {
  const std::vector<double> all = durations(5000);
  Histogram histogram;
  for (const double d : all) histogram.add(d);
  const std::array<double, 5> bounds = {1e-9, 1e-4, 1e-3, 0.1, 1e5};
  std::array<uint64_t, 5> counts{};
  histogram.count_up_to(bounds, counts);
  EXPECT_EQ(counts[0], 0U);
  EXPECT_EQ(counts[4], all.size());
  for (size_t i = 0; i < bounds.size(); ++i) {
    const auto within = [&](double bound) {
      return static_cast<uint64_t>(
          std::count_if(all.begin(), all.end(), [&](double d) { return d <= bound; }));
    };
    EXPECT_GE(counts.at(i), within(bounds.at(i) * 0.99));
    EXPECT_LE(counts.at(i), within(bounds.at(i) * 1.01));
  }
}

TEST(Durations, merge_adds_up) {
  Histogram one;
  Histogram two;
  one.add(0.1, 3);
  two.add(0.1);
  two.add(5);
  one.merge(two);
  EXPECT_EQ(one.count(), 5U);
  EXPECT_DOUBLE_EQ(one.sum(), 5.4);
  EXPECT_NEAR(one.quantile(0.8), 0.1, 0.001);
  EXPECT_NEAR(one.quantile(1), 5, 0.05);
  one.clear();
  EXPECT_EQ(one.count(), 0U);
  EXPECT_TRUE(std::isnan(one.quantile(0.5)));
}

TEST(Durations, of_no_time_and_of_ages_have_a_bucket) {
  EXPECT_EQ(Histogram::bucket_of(0), 0U);
  EXPECT_EQ(Histogram::bucket_of(-1), 0U);
  EXPECT_EQ(Histogram::bucket_of(1e300), Histogram::kBuckets - 1);
  for (size_t bucket = 0; bucket < Histogram::kBuckets; ++bucket) {
    if (bucket >= 6 * Histogram::kGroupSize) {  // below there are fewer nanoseconds than buckets
      ASSERT_EQ(Histogram::bucket_of(Histogram::middle(bucket)), bucket);
    }
  }
}

}  // namespace
}  // namespace assay::hooks
