// SPDX-License-Identifier: Apache-2.0
#include "decimate.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace assay::report {
namespace {

Series ramp(size_t count) {
  Series series;
  for (size_t i = 0; i < count; ++i) {
    series.times.push_back(from_unix_ns(static_cast<int64_t>(i) * 1'000'000));
    series.values.push_back(std::sin(static_cast<double>(i) * 0.001));
  }
  return series;
}

TEST(Decimated, leaves_short_series_alone) {
  const Series series = ramp(4000);
  EXPECT_EQ(decimated(series, 4000).values, series.values);
}

TEST(Decimated, keeps_spikes_of_one_sample_and_both_ends) {
  Series series = ramp(1'000'000);
  series.values[777'777] = 99;
  series.values[123'456] = -99;
  const Series small = decimated(series, 4000);
  EXPECT_LE(small.times.size(), 4000U);
  EXPECT_GE(small.times.size(), 2000U);
  EXPECT_EQ(*std::max_element(small.values.begin(), small.values.end()), 99);
  EXPECT_EQ(*std::min_element(small.values.begin(), small.values.end()), -99);
  EXPECT_TRUE(std::is_sorted(small.times.begin(), small.times.end()));
  EXPECT_EQ(small.times.front(), series.times.front());
  EXPECT_EQ(small.times.back(), series.times.back());
}

TEST(Decimated, survives_samples_that_share_one_time) {
  Series series;
  series.times.assign(10'000, from_unix_ns(5));
  series.values.assign(10'000, 1);
  series.values[5000] = 7;
  const Series small = decimated(series, 100);
  EXPECT_LE(small.times.size(), 100U);
  EXPECT_EQ(*std::max_element(small.values.begin(), small.values.end()), 7);
}

TEST(Decimated, leaves_out_what_is_not_a_number) {
  Series series = ramp(3);
  series.values[1] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(decimated(series, 100).times.size(), 2U);
}

}  // namespace
}  // namespace assay::report
