// SPDX-License-Identifier: Apache-2.0
#include "slowdown.h"

#include "testing/known_world.h"

#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

namespace assay::predict {
namespace {

using namespace testing;

Surroundings at(double load, double cores = 4, double threads = 0) {
  Surroundings around;
  around.load = load;
  around.threads = threads;
  around.log_idle = -3;
  around.place.cores = cores;
  return around;
}

TEST(Slowdown, a_fair_scheduler_gives_what_is_free_and_never_less_than_half) {
  EXPECT_DOUBLE_EQ(fair_slowdown(at(0)), 0);
  EXPECT_NEAR(fair_slowdown(at(0.25)), std::log(1 / 0.75), 1e-12);
  EXPECT_NEAR(fair_slowdown(at(1)), std::log(2), 1e-12);
  EXPECT_DOUBLE_EQ(fair_slowdown(at(0.5, 4, 1)), 0) << "two cores are free for one thread";
  EXPECT_NEAR(fair_slowdown(at(0.75, 4, 2)), std::log(2), 1e-12);
}

/// Two tasks on like devices, of which the second suffers `other` times as much.
SlowdownLesson make_lesson(double other, double most_load) {
  Draw draw(1);
  SlowdownLesson lesson;
  lesson.tasks = 2;
  for (size_t i = 0; i < 400; ++i) {
    const double load = most_load * draw();
    lesson.task.push_back(i % 2);
    lesson.around.push_back(at(load));
    lesson.logs.push_back((i % 2 == 0 ? 1 : other) * 0.8 * load + 0.02 * (draw() - 0.5));
    lesson.say.push_back(1);
  }
  return lesson;
}

TEST(Slowdown, is_learned_and_each_task_has_a_factor) {
  const auto learned = learn_slowdown(make_lesson(1.5, 1), 0);
  ASSERT_TRUE(learned) << learned.error().message;
  for (const double load : {0.2, 0.5, 0.9}) {
    EXPECT_NEAR(learned->slowdown.tell(0, at(load)), 0.8 * load, 0.04) << load;
    EXPECT_NEAR(learned->slowdown.tell(1, at(load)), 1.2 * load, 0.06) << load;
  }
  EXPECT_LT(learned->slowdown.tell(0, at(0)), 0.03);
  EXPECT_GT(learned->importance[0], 0.3) << "the load counts most";
}

TEST(Slowdown, many_are_told_as_each_by_itself) {
  const auto slowdown = learn_slowdown(make_lesson(1.5, 1), 0)->slowdown;
  const std::vector<size_t> tasks = {1, 0, 1};
  const std::vector<Surroundings> around = {at(0.1), at(0.5), at(0.8, 2)};
  const auto told = slowdown.tell(tasks, around);
  for (size_t i = 0; i < 3; ++i)
    EXPECT_NEAR(told[i], slowdown.tell(tasks[i], around[i]), 1e-6) << i;
}

TEST(Slowdown, without_loads_a_fair_scheduler_stands_in) {
  const auto learned = learn_slowdown(make_lesson(1, 0.05), 0);
  ASSERT_TRUE(learned);
  EXPECT_NEAR(learned->slowdown.tell(0, at(0.4)), fair_slowdown(at(0.4)), 0.06);
  EXPECT_NEAR(learned->slowdown.tell(0, at(1)), std::log(2), 0.06);
}

TEST(Slowdown, trees_for_other_columns_are_refused) {
  auto document = nlohmann::json::parse(learn_slowdown(make_lesson(1, 1), 0)->booster);
  EXPECT_TRUE(read_slowdown(document, {1, 1}));
  document["learner"]["learner_model_param"]["num_feature"] = "30";
  EXPECT_FALSE(read_slowdown(document, {1, 1}));
}

}  // namespace
}  // namespace assay::predict
