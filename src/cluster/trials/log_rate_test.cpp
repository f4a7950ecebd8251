// SPDX-License-Identifier: Apache-2.0
#include "log_rate.h"

#include <gtest/gtest.h>

namespace assay::cluster {
namespace {

const std::string kLog =
    "2026-01-01T00:00:00.000000000Z begin\n"
    "2026-01-01T00:00:01.500000000Z step 10 loss 3.2 speed 1,000.5\n"
    "2026-01-01T00:00:02.500000000Z step 20 loss 3.1 speed 1010\n"
    "2026-01-01T00:00:03.500000000Z step 30 loss 3.0 speed 990\n"
    "no time step 99\n"
    "2026-01-01T00:00:09.000000000Z step 31 loss x speed nan";

Timestamp at(double second) {
  return parse_utc("2026-01-01T00:00:00Z").value() + from_seconds(second);
}

TEST(LogRate, OfACountIsItsSlope) {
  const auto pattern = LogPattern::compile("step ([0-9]+)");
  ASSERT_TRUE(pattern);
  const auto numbers = numbers_in(kLog, *pattern);
  ASSERT_EQ(numbers.size(), 4U);
  const auto rate = rate_of(numbers, true, at(1), at(5));
  ASSERT_TRUE(rate);
  EXPECT_DOUBLE_EQ(rate->value, 10);
  EXPECT_NEAR(rate->sd, 0, 1e-9);
  EXPECT_FALSE(rate_of(numbers, true, at(1), at(2)));
  EXPECT_FALSE(rate_of({{at(1), 5}, {at(2), 5}}, true, at(0), at(9)));
}

TEST(LogRate, OfRatesIsTheirMedian) {
  const auto pattern = LogPattern::compile("speed ([0-9.,a-z]+)");
  ASSERT_TRUE(pattern);
  const auto numbers = numbers_in(kLog, *pattern);
  ASSERT_EQ(numbers.size(), 3U);
  EXPECT_DOUBLE_EQ(rate_of(numbers, false, at(0), at(9))->value, 1000.5);
  EXPECT_FALSE(rate_of(numbers, false, at(5), at(9)));
}

TEST(LogRate, WhyThereIsNoneIsTold) {
  const std::vector<LogNumber> one = {{at(1), 5}};
  const auto why = [&](const std::vector<LogNumber>& numbers, bool counts, double from) {
    EXPECT_FALSE(rate_of(numbers, counts, at(from), at(9)));
    return why_no_rate(numbers, counts, at(from), at(9));
  };
  EXPECT_EQ(why({}, true, 0), "no line of its log has a number by --log-pattern");
  EXPECT_NE(why(one, false, 2).find("before the end of --warm-up"), std::string::npos);
  EXPECT_NE(why(one, true, 0).find("--log-counts needs two"), std::string::npos);
  EXPECT_NE(why({{at(1), 5}, {at(2), 5}}, true, 0).find("do not grow"), std::string::npos);
  EXPECT_EQ(why({{at(1), 0}}, false, 0), "its log has no numbers above 0");
}

TEST(LogRate, APatternNeedsOneGroup) {
  for (const char* text : {"", "x", "(", "(a)(b)", "[", "(?:a)"})
    EXPECT_FALSE(LogPattern::compile(text)) << text;
}

TEST(LogRate, HostileLinesMatchNothing) {
  const auto pattern = LogPattern::compile("(a|a)*b");
  ASSERT_TRUE(pattern);
  EXPECT_FALSE(pattern->find(std::string(100'000, 'a')));
}

}  // namespace
}  // namespace assay::cluster
