// SPDX-License-Identifier: Apache-2.0
#include "patterns.h"

#include <algorithm>
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
  EXPECT_FALSE(day_ahead(std::vector<double>(100, 50), 600, 100)) << "less than a day";
  EXPECT_TRUE(day_ahead(std::vector<double>(300, 50), 600, 100));
}

}  // namespace
}  // namespace assay::cluster
