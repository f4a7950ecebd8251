// SPDX-License-Identifier: Apache-2.0
#include "base_costs.h"

#include <cmath>
#include <limits>
#include <random>

#include <assay/predict/learn.h>
#include <gtest/gtest.h>

namespace assay::predict {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

/// From 0 to 1, the same on every machine.
class Draw {
 public:
  explicit Draw(uint64_t seed) : random_(seed) {}
  double operator()() { return static_cast<double>(random_() >> 11U) * 0x1p-53; }

 private:
  std::mt19937_64 random_;
};

/// Items with two costs; every task spends its own time on each.
struct World {
  Grid features;
  Grid costs;
  Grid log_times;
};
World make_world(size_t tasks, size_t items, uint64_t seed) {
  Draw draw(seed);
  World world{Grid(items, 2), Grid(items, 2), Grid(tasks, items)};
  for (size_t item = 0; item < items; ++item) {
    for (size_t cost = 0; cost < 2; ++cost) {
      world.costs.at(item, cost) = std::exp(4 * draw());
      world.features.at(item, cost) = std::log(world.costs.at(item, cost));
    }
  }
  for (size_t task = 0; task < tasks; ++task) {
    const double first = 0.001 * (1 + draw());
    const double second = 0.002 * (1 + draw());
    for (size_t item = 0; item < items; ++item)
      world.log_times.at(task, item) =
          std::log(0.001 + first * world.costs.at(item, 0) + second * world.costs.at(item, 1));
  }
  return world;
}
Grid rows_of(const Grid& grid, size_t begin, size_t end) {
  Grid part(end - begin, grid.columns);
  for (size_t row = begin; row < end; ++row)
    for (size_t column = 0; column < grid.columns; ++column)
      part.at(row - begin, column) = grid.at(row, column);
  return part;
}
Grid columns_of(const Grid& grid, size_t begin, size_t end) {
  Grid part(grid.rows, end - begin);
  for (size_t row = 0; row < grid.rows; ++row)
    for (size_t column = begin; column < end; ++column)
      part.at(row, column - begin) = grid.at(row, column);
  return part;
}
/// Learns from all items but the last ten and tells those.
double mean_error(const World& world, const Grid& seen_times) {
  const size_t items = world.features.rows;
  const size_t seen = items - 10;
  const auto learned = *learn({rows_of(world.features, 0, seen), rows_of(world.costs, 0, seen),
                               columns_of(seen_times, 0, seen)});
  const Grid told =
      tell(learned, rows_of(world.features, seen, items), rows_of(world.costs, seen, items));
  double sum = 0;
  for (size_t task = 0; task < told.rows; ++task)
    for (size_t i = 0; i < 10; ++i)
      sum += std::abs(told.at(task, i) - world.log_times.at(task, seen + i));
  return sum / static_cast<double>(told.values.size());
}

TEST(LeastSquares, stop_at_zero) {
  Grid gram(2, 2);
  gram.values = {2, 1, 1, 2};
  EXPECT_EQ(least_squares_above_zero(gram, std::vector<double>{3, 3}), (std::vector<double>{1, 1}));
  EXPECT_EQ(least_squares_above_zero(gram, std::vector<double>{2, -4}),
            (std::vector<double>{1, 0}));
  EXPECT_EQ(least_squares_above_zero(gram, std::vector<double>{-1, -1}),
            (std::vector<double>{0, 0}));
}

TEST(Base, finds_what_each_cost_takes) {
  const World world = make_world(1, 60, 1);
  Grid times = world.log_times;
  times.at(0, 7) += 1;  // far off
  times.at(0, 9) = kNone;
  const auto base = fit_base(world.costs, times.row(0));
  ASSERT_EQ(base.size(), 3U);
  for (size_t item = 0; item < 60; ++item)
    EXPECT_NEAR(base_of(base, world.costs.row(item)), world.log_times.at(0, item), 0.02);
  EXPECT_GE(base[0], 0);
}

TEST(Base, of_nothing_is_nothing) {
  const Grid costs(1, 2, 1);
  EXPECT_EQ(fit_base(costs, std::vector<double>{kNone}), (std::vector<double>(3)));
}

TEST(Learn, tells_items_that_were_never_measured) {
  const World world = make_world(6, 60, 2);
  EXPECT_LT(mean_error(world, world.log_times), 0.02);
}

TEST(Learn, does_without_some_times_and_in_spite_of_wrong_ones) {
  const World world = make_world(8, 60, 3);
  Grid times = world.log_times;
  Draw draw(4);
  for (double& time : times.values) {
    if (draw() < 0.2) time = kNone;
    if (draw() < 0.05) time += draw() < 0.5 ? -1 : 1;
  }
  EXPECT_LT(mean_error(world, times), 0.05);
}

TEST(Learn, needs_no_costs_and_minds_no_feature_that_never_changes) {
  World world = make_world(4, 60, 5);
  world.costs = Grid(60, 0);
  Grid features(60, 3, 7);
  for (size_t item = 0; item < 60; ++item)
    for (size_t i = 0; i < 2; ++i) features.at(item, i) = world.features.at(item, i);
  world.features = features;
  EXPECT_LT(mean_error(world, world.log_times), 0.03);
}

TEST(Learn, refuses_what_it_could_make_nothing_of) {
  const World world = make_world(3, 30, 7);
  const Lesson lesson{world.features, world.costs, world.log_times};
  const auto message = [](const Lesson& wrong) {
    const auto learned = learn(wrong);
    return learned ? std::string() : learned.error().message;
  };
  EXPECT_EQ(message(lesson), "");
  Lesson once = lesson;
  for (size_t item = 1; item < 30; ++item) once.log_times.at(1, item) = kNone;
  EXPECT_EQ(message(once), "a task has fewer than two times to learn from");
  Lesson nothing = lesson;
  nothing.features.at(4, 0) = kNone;
  EXPECT_EQ(message(nothing), "a model has a feature or a cost that is no number");
  Lesson no_time = lesson;
  no_time.log_times.at(0, 3) = -HUGE_VAL;
  EXPECT_EQ(message(no_time), "a time is not above zero");
  EXPECT_TRUE(message({Grid(1501, 1), Grid(1501, 0), Grid(1, 1501)}).starts_with("1501 models"));
}

TEST(Learn, two_times_of_a_task_are_enough) {
  World world = make_world(3, 30, 8);
  for (size_t item = 2; item < 30; ++item) world.log_times.at(1, item) = kNone;
  const auto learned = learn({world.features, world.costs, world.log_times});
  ASSERT_TRUE(learned) << learned.error().message;
  for (const double told : tell(*learned, world.features, world.costs).values)
    EXPECT_TRUE(std::isfinite(told));
}

TEST(Learn, a_feature_that_is_not_known_counts_as_usual) {
  const World world = make_world(3, 30, 9);
  const auto learned = *learn({world.features, world.costs, world.log_times});
  Grid missing = rows_of(world.features, 0, 1);
  missing.at(0, 1) = kNone;
  Grid usual = missing;
  usual.at(0, 1) = learned.means[1];
  const Grid costs = rows_of(world.costs, 0, 1);
  EXPECT_EQ(tell(learned, missing, costs).values, tell(learned, usual, costs).values);
}

TEST(Learn, far_outside_of_what_was_learned_from_times_follow_the_costs) {
  const World world = make_world(4, 60, 10);
  const auto learned = *learn({world.features, world.costs, world.log_times});
  Grid features(1, 2);
  Grid costs(1, 2);
  for (size_t i = 0; i < 2; ++i) {
    costs.at(0, i) = 1000 * std::exp(4);
    features.at(0, i) = std::log(costs.at(0, i));
  }
  const Grid told = tell(learned, features, costs);
  for (size_t task = 0; task < 4; ++task)
    EXPECT_NEAR(told.at(task, 0), base_of(learned.base.row(task), costs.row(0)), 0.3);
}

TEST(Learn, gives_the_same_each_time) {
  const World world = make_world(3, 30, 6);
  const Lesson lesson{world.features, world.costs, world.log_times};
  EXPECT_EQ(tell(*learn(lesson), world.features, world.costs).values,
            tell(*learn(lesson), world.features, world.costs).values);
}

}  // namespace
}  // namespace assay::predict
