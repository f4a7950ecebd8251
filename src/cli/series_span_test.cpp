// SPDX-License-Identifier: Apache-2.0
#include "series_span.h"

#include <gtest/gtest.h>

namespace assay::cli {
namespace {

analysis::EvenSeries steps_of(double seconds) {
  analysis::EvenSeries series;
  series.step_seconds = seconds;
  return series;
}

analysis::EvenSeries months(int count) {
  auto series = steps_of(count * analysis::kSecondsOfYear / 12);
  series.months = count;
  return series;
}

analysis::EvenSeries years() {
  auto series = steps_of(analysis::kSecondsOfYear);
  series.years = true;
  return series;
}

size_t samples(const std::string& text, const analysis::EvenSeries& series) {
  const auto count = samples_of("--horizon", text, series, 1);
  EXPECT_TRUE(count) << text << count.error().message;
  return count ? *count : 0;
}

std::string trouble(const std::string& text, const analysis::EvenSeries& series, size_t least = 1) {
  const auto count = samples_of("--horizon", text, series, least);
  EXPECT_FALSE(count) << text;
  return count ? "" : count.error().message;
}

TEST(SeriesSpan, is_a_count_or_a_time) {
  const auto hours = steps_of(3600);
  EXPECT_EQ(samples("7", hours), 7);
  EXPECT_EQ(samples("2h", hours), 2);
  EXPECT_EQ(samples("2d", hours), 48);
  EXPECT_EQ(samples("1w", hours), 168);
  EXPECT_EQ(samples("2 weeks", hours), 336);
  EXPECT_EQ(samples("1y", hours), 8766);
  EXPECT_EQ(samples("0.5y", hours), 4383);
  EXPECT_EQ(samples("1y", steps_of(86400)), 365);
}

TEST(SeriesSpan, has_years_of_the_calendar_where_steps_are_months_or_years) {
  EXPECT_EQ(samples("10y", months(1)), 120);
  EXPECT_EQ(samples("300y", months(3)), 1200);
  EXPECT_EQ(samples("10y", years()), 10);
  EXPECT_EQ(samples("1000y", years()), 1000);
}

TEST(SeriesSpan, that_is_shorter_than_a_step_tells_the_step) {
  EXPECT_EQ(trouble("2d", months(1)),
            "--horizon 2d: a step is a month here, and 1 at least is needed");
  EXPECT_EQ(trouble("2d", months(3)),
            "--horizon 2d: a step is 3 months here, and 1 at least is needed");
  EXPECT_EQ(trouble("1w", years()),
            "--horizon 1w: a step is a year here, and 1 at least is needed");
  EXPECT_EQ(trouble("1w", months(24)),
            "--horizon 1w: a step is 2 years here, and 1 at least is needed");
  EXPECT_EQ(trouble("1h", steps_of(3600), 2),
            "--horizon 1h: a step is an hour here, and 2 at least are needed");
  EXPECT_EQ(trouble("0s", steps_of(90)),
            "--horizon 0s: a step is 90 seconds here, and 1 at least is needed");
}

TEST(SeriesSpan, that_is_none_tells_what_is) {
  const auto hours = steps_of(3600);
  for (const std::string text : {"0", "-1", "1.5", "1x", "y", "", "200000", "-1y", "1e3w"})
    EXPECT_EQ(trouble(text, hours), "--horizon " + text +
                                        ": a number of samples from 1 to 100000, or a time as 30s, "
                                        "10m, 1h, 2d, 1w or 1y");
  for (const std::string text : {"1h", "1w", "1y"})
    EXPECT_EQ(trouble(text, steps_of(0)),
              "--horizon " + text + ": this series has no times; say how many samples");
  EXPECT_EQ(trouble("100y", hours), "--horizon 100y is 876600 samples; 1 to 100000 can be had");
}

}  // namespace
}  // namespace assay::cli
