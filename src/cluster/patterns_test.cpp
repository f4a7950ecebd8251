// SPDX-License-Identifier: Apache-2.0
#include "patterns.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace assay::cluster {
namespace {

/// How often the class of a noisy series changes from one look to the next, of 200: two hours are
/// looked at, of which a sixth is new.
int changes(double mean, double deviation, double full, bool remembers) {
  constexpr size_t kLength = 120, kNew = 20;
  std::mt19937_64 random(11);
  std::normal_distribution<double> noise(mean, deviation);
  std::vector<double> values;
  std::optional<Pattern> before;
  int changed = 0;
  for (int look = 0; look < 200; ++look) {
    const size_t fresh = values.empty() ? kLength : kNew;
    for (size_t i = 0; i < fresh; ++i) values.push_back(std::clamp(noise(random), 0.0, full));
    values.erase(values.begin(), values.end() - kLength);
    Pattern now;
    now.use = pattern_of(values, 30, full, remembers ? before : std::nullopt).value().use;
    changed += before && before->use != now.use;
    before = now;
  }
  return changed;
}

TEST(Patterns, at_the_border_of_two_classes_do_not_flap) {
  struct Border {
    const char* between;
    double mean, deviation, full;
  };
  for (const auto& [between, mean, deviation, full] :
       {Border{"bursty and steady", 1, 0.334, 4}, Border{"idle and bursty", 0.03, 0.0122, 1},
        Border{"steady and saturated", 93, 4.45, 100}}) {
    EXPECT_GT(changes(mean, deviation, full, false), 20) << between << ": it is a border";
    EXPECT_LE(changes(mean, deviation, full, true), 4) << between;
  }
}

TEST(Patterns, another_class_is_told_when_it_is_clear) {
  const auto level = [](double value) { return std::vector<double>(120, value); };
  auto before = pattern_of(level(50), 30, 100);
  ASSERT_TRUE(before);
  EXPECT_EQ(before->use, analysis::UseClass::steady);
  before = pattern_of(level(99), 30, 100, before);
  EXPECT_EQ(before->use, analysis::UseClass::saturated);
  before = pattern_of(level(0), 30, 100, before);
  EXPECT_EQ(before->use, analysis::UseClass::idle);
  auto waves = level(90);
  for (size_t i = 0; i < waves.size(); i += 2) waves[i] = 5;
  before = pattern_of(waves, 30, 100, before);
  EXPECT_EQ(before->use, analysis::UseClass::bursty);
}

TEST(Patterns, of_too_little_are_none) {
  EXPECT_FALSE(pattern_of(std::vector<double>(19, 50), 30, 100));
  EXPECT_FALSE(pattern_of(std::vector<double>(50, 50), 0, 100));
  EXPECT_FALSE(days_of(std::vector<double>(100, 50), 600, 100).ahead) << "less than a day";
  EXPECT_TRUE(days_of(std::vector<double>(300, 50), 600, 100).ahead);
}

constexpr size_t kWeek = size_t{7} * 144;  // in means of ten minutes

TEST(Patterns, what_is_faster_than_hours_is_none_of_days) {
  for (const double period : {97, 290, 598, 602, 700, 1000, 1300, 1700, 3500, 7200}) {
    std::vector<double> means(kWeek);
    for (size_t i = 0; i < means.size(); ++i)
      for (int second = 0; second < 600; ++second) {
        const double at = std::fmod(600.0 * static_cast<double>(i) + second, period);
        means[i] += (at < period / 2 ? 90 : 10) / 600.0;
      }
    EXPECT_FALSE(days_of(means, 600, 100).period_seconds) << period;
  }
}

TEST(Patterns, of_days_are_cycles_that_are_too_slow_for_hours) {
  const auto shifts = [](size_t turn, size_t busy) {
    std::vector<double> values(kWeek);
    for (size_t i = 0; i < values.size(); ++i) values[i] = i % turn < busy ? 80 : 5;
    return values;
  };
  const auto days = days_of(shifts(144, 60), 600, 100);
  EXPECT_NEAR(days.period_seconds.value_or(0), 86400, 900);
  ASSERT_TRUE(days.ahead);
  EXPECT_NEAR(days.ahead->mean, 36, 6);
  EXPECT_NEAR(days_of(shifts(48, 24), 600, 100).period_seconds.value_or(0), 28800, 300);

  auto both = shifts(12, 6);  // every two hours
  for (size_t i = 0; i < both.size(); ++i) both[i] *= i % 144 < 60 ? 1 : 0.6;
  EXPECT_NEAR(days_of(both, 600, 100).period_seconds.value_or(0), 86400, 900)
      << "a day also where batches of some hours are stronger";

  Pattern pattern{.period_seconds = {}, .days = days};
  EXPECT_EQ(pattern.period(), days.period_seconds);
  pattern.period_seconds = 300;
  EXPECT_EQ(pattern.period(), 300);
}

}  // namespace
}  // namespace assay::cluster
