// SPDX-License-Identifier: Apache-2.0
#include "idle.h"

#include "testing/known_world.h"

#include <limits>

#include <gtest/gtest.h>

namespace assay::predict {
namespace {

using namespace testing;

/// Two costs whose logarithms are the features, and a task's own seconds for each. The second
/// task has measured every other item.
Lesson make_lesson(size_t items, uint64_t seed) {
  Draw draw(seed);
  Lesson lesson{Grid(items, 2), Grid(items, 2), Grid(2, items)};
  for (size_t item = 0; item < items; ++item) {
    double seconds = 0.001;
    for (size_t i = 0; i < 2; ++i) {
      lesson.costs.at(item, i) = std::exp(draw.between(0, 4));
      lesson.features.at(item, i) = std::log(lesson.costs.at(item, i));
      seconds += 0.002 * lesson.costs.at(item, i);
    }
    seconds *= lesson.features.at(item, 0) > 2 ? 1.2 : 1;  // no sum of costs tells this
    lesson.log_times.at(0, item) = std::log(seconds);
    lesson.log_times.at(1, item) =
        item % 2 == 0 ? std::log(3 * seconds) : std::numeric_limits<double>::quiet_NaN();
  }
  return lesson;
}
double mean_error(Method method) {
  const auto idle = learn_idle(make_lesson(400, 1), method, 0);
  EXPECT_TRUE(idle);
  const Lesson asked = make_lesson(50, 2);
  const Grid told = tell_idle(*idle, asked.features, asked.costs);
  double sum = 0;
  for (size_t item = 0; item < 50; ++item) {
    const double log = asked.log_times.at(0, item);
    sum += std::abs(told.at(0, item) - log) + std::abs(told.at(1, item) - log - std::log(3));
  }
  return sum / 100;
}

TEST(Idle, lines_tell_roughly) {
  EXPECT_LT(mean_error(Method::linear), 0.3);
}
TEST(Idle, trees_tell_what_no_sum_of_costs_does) {
  EXPECT_LT(mean_error(Method::boosted), 0.03);
}

TEST(Idle, which_methods_are_tried_is_by_the_number_of_items) {
  EXPECT_EQ(methods_for(50), (std::vector<Method>{Method::processes, Method::linear}));
  EXPECT_EQ(methods_for(400),
            (std::vector<Method>{Method::processes, Method::linear, Method::boosted}));
  EXPECT_EQ(methods_for(5000), (std::vector<Method>{Method::linear, Method::boosted}));
}

}  // namespace
}  // namespace assay::predict
