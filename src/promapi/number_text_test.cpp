// SPDX-License-Identifier: Apache-2.0
#include "number_text.h"

#include <array>
#include <limits>
#include <string>

#include <assay/base/text.h>
#include <gtest/gtest.h>

namespace assay::promapi {
namespace {

using Limits = std::numeric_limits<double>;

template <class Value>
std::string text_of(char* (*write)(char*, Value), Value value) {
  std::array<char, kNumberRoom> room{};
  return {room.data(), write(room.data(), value)};
}

TEST(NumberText, WholeNumbersHaveNoExponent) {
  EXPECT_EQ(text_of(write_value, 0.0), "0");
  EXPECT_EQ(text_of(write_value, -0.0), "0");
  EXPECT_EQ(text_of(write_value, -17.0), "-17");
  EXPECT_EQ(text_of(write_value, 1e6), "1000000");
  EXPECT_EQ(text_of(write_value, 9007199254740991.0), "9007199254740991");
  EXPECT_EQ(text_of(write_value, 1e16), "1e+16");
}

TEST(NumberText, ValuesAreShortAndReadBackTheSame) {
  EXPECT_EQ(text_of(write_value, 0.1), "0.1");
  EXPECT_EQ(text_of(write_value, 1e-7), "1e-07");
  for (const double value : {1.0 / 3, 2.0 / 3 * 1e-300, Limits::max(), Limits::denorm_min(),
                             -123456.789, 1700000000.123456})
    EXPECT_EQ(parse_double(text_of(write_value, value)), value);
}

TEST(NumberText, WhatIsNoNumberHasPrometheusWords) {
  EXPECT_EQ(text_of(write_value, Limits::quiet_NaN()), "NaN");
  EXPECT_EQ(text_of(write_value, -Limits::quiet_NaN()), "NaN");
  EXPECT_EQ(text_of(write_value, Limits::infinity()), "+Inf");
  EXPECT_EQ(text_of(write_value, -Limits::infinity()), "-Inf");
}

TEST(NumberText, BoundsAreCanonical) {
  EXPECT_EQ(text_of(write_bound, 0.0), "0.0");
  EXPECT_EQ(text_of(write_bound, 1.0), "1.0");
  EXPECT_EQ(text_of(write_bound, -2.0), "-2.0");
  EXPECT_EQ(text_of(write_bound, 0.005), "0.005");
  EXPECT_EQ(text_of(write_bound, 100000.0), "100000.0");
  EXPECT_EQ(text_of(write_bound, 1000000.0), "1e+06");
  EXPECT_EQ(text_of(write_bound, 0.00001), "1e-05");
  EXPECT_EQ(text_of(write_bound, 0.1234567890123456), "0.1234567890123456");
  EXPECT_EQ(text_of(write_bound, Limits::infinity()), "+Inf");
}

TEST(NumberText, SecondsHaveThreeDecimals) {
  EXPECT_EQ(text_of<int64_t>(write_seconds, 1'700'000'000'005), "1700000000.005");
  EXPECT_EQ(text_of<int64_t>(write_seconds, -1250), "-1.250");
  EXPECT_EQ(text_of<int64_t>(write_seconds, 0), "0.000");
}

}  // namespace
}  // namespace assay::promapi
