// SPDX-License-Identifier: Apache-2.0
#include "booster.h"

#include "trees.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>

#include <gtest/gtest.h>

namespace assay::predict {
namespace {

using nlohmann::json;

constexpr float kNone = std::numeric_limits<float>::quiet_NaN();

struct World {
  Grid rows;
  std::vector<double> labels;
};
/// The first column counts, the third a little, the second not at all; some values are missing.
World make_world(size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto draw = [&] { return static_cast<double>(random() >> 11U) * 0x1p-53; };
  World world{Grid(count, 3), {}};
  for (size_t row = 0; row < count; ++row) {
    for (size_t column = 0; column < 3; ++column) world.rows.at(row, column) = draw();
    const double first = world.rows.at(row, 0);
    world.labels.push_back(3 + std::sin(6 * first) + 0.2 * world.rows.at(row, 2));
    if (draw() < 0.1) world.rows.at(row, 2) = kNone;
  }
  return world;
}
double mean_error(const std::vector<float>& told, const std::vector<double>& labels) {
  double sum = 0;
  for (size_t i = 0; i < labels.size(); ++i) sum += std::abs(told[i] - labels[i]);
  return sum / static_cast<double>(labels.size());
}
Booster trained(const World& world, uint64_t seed = 0) {
  auto booster = Booster::train(world.rows, world.labels, {.seed = seed});
  EXPECT_TRUE(booster) << booster.error().message;
  return std::move(*booster);
}

TEST(Booster, learns_rows_that_it_then_tells) {
  const Booster booster = trained(make_world(2000, 1));
  const World other = make_world(500, 2);
  EXPECT_LT(mean_error(*booster.tell(other.rows), other.labels), 0.05);
  EXPECT_TRUE(booster.tell(Grid(0, 3))->empty());
}

TEST(Booster, learns_by_a_gradient_of_ones_own) {
  World world = make_world(2000, 3);
  for (size_t row = 0; row < 2000; row += 10) world.labels[row] += 1000;  // far off
  const Gradient robust = [&](auto told, auto first, auto second) {
    for (size_t i = 0; i < told.size(); ++i) {
      const auto off = static_cast<float>(told[i] - world.labels[i]);
      const float root = std::sqrt(1 + off * off / 0.01F);
      first[i] = off / root;
      second[i] = 1 / root;
    }
  };
  const auto booster = Booster::train(world.rows, robust, {.rounds = 300, .least_weight = 1});
  ASSERT_TRUE(booster) << booster.error().message;
  const World other = make_world(500, 4);
  EXPECT_LT(mean_error(*booster->tell(other.rows), other.labels), 0.1);
}

TEST(Booster, is_the_same_each_time_and_another_by_another_seed) {
  const World world = make_world(300, 5);
  EXPECT_EQ(*trained(world, 1).text(), *trained(world, 1).text());
  EXPECT_NE(*trained(world, 1).tell(world.rows), *trained(world, 2).tell(world.rows));
}

TEST(Booster, importance_is_that_of_the_columns_that_count) {
  const auto found = *trained(make_world(2000, 6)).importance();
  ASSERT_EQ(found.size(), 3U);
  EXPECT_GT(found[0], 10 * found[2]);
  EXPECT_GT(found[2], found[1]);
}

TEST(Booster, its_text_is_read_back_with_keys_of_ours_beside) {
  const World world = make_world(300, 7);
  const Booster booster = trained(world);
  json document = json::parse(*booster.text());
  document["assay"] = {{"schema", 1}};
  const auto again = Booster::parse(document.dump());
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again->tell(world.rows), *booster.tell(world.rows));
}

TEST(Booster, errors_are_in_the_librarys_words) {
  const auto empty = Booster::parse("{\"learner\":{}}");
  ASSERT_FALSE(empty);
  EXPECT_TRUE(empty.error().message.starts_with("XGBoost: ")) << empty.error().message;
  EXPECT_EQ(empty.error().message.find("Stack trace"), std::string::npos);
  const World world = make_world(10, 8);
  EXPECT_FALSE(Booster::train(world.rows, world.labels, {.row_share = 7}));
  EXPECT_FALSE(Booster::train(Grid(), std::vector<double>(), {}));
}

TEST(Trees, tell_what_the_booster_tells) {
  const World world = make_world(1000, 9);
  const Booster booster = trained(world);
  const auto trees = Trees::parse(json::parse(*booster.text()));
  ASSERT_TRUE(trees) << trees.error().message;
  EXPECT_EQ(trees->count(), 200U);
  EXPECT_EQ(trees->columns(), 3U);
  const World other = make_world(1000, 10);
  const auto told = *booster.tell(other.rows);
  for (size_t row = 0; row < 1000; ++row) {
    const auto values = other.rows.row(row);
    EXPECT_EQ(trees->tell(std::vector<float>(values.begin(), values.end())), told[row]);
  }
}

json stump() {
  return json::parse(R"({"learner": {
    "learner_model_param": {"base_score": "5E-1", "num_feature": "2"},
    "objective": {"name": "reg:squarederror"},
    "gradient_booster": {"name": "gbtree", "model": {"trees": [{
      "left_children": [1, -1, -1], "right_children": [2, -1, -1], "split_indices": [1, 0, 0],
      "split_conditions": [3, 10, 20], "default_left": [0, 0, 0]}]}}}})");
}

TEST(Trees, go_left_below_the_condition_and_as_told_where_nothing_is) {
  const auto trees = *Trees::parse(stump());
  EXPECT_EQ(trees.tell(std::vector<float>{9, 2.9F}), 10.5F);
  EXPECT_EQ(trees.tell(std::vector<float>{0, 3}), 20.5F);
  EXPECT_EQ(trees.tell(std::vector<float>{0, kNone}), 20.5F);
}

TEST(Trees, that_do_not_hold_together_are_refused) {
  const auto refused_with = [](const char* key, const json& value) {
    json document = stump();
    document["learner"]["gradient_booster"]["model"]["trees"][0][key] = value;
    return !Trees::parse(document);
  };
  EXPECT_TRUE(refused_with("left_children", {0, -1, -1})) << "a circle";
  EXPECT_TRUE(refused_with("left_children", {7, -1, -1}));
  EXPECT_TRUE(refused_with("right_children", {-5, -1, -1}));
  EXPECT_TRUE(refused_with("split_indices", {2, 0, 0}));
  EXPECT_TRUE(refused_with("split_conditions", {1}));
  EXPECT_TRUE(refused_with("left_children", json::array()));
  EXPECT_TRUE(refused_with("split_type", {1, 0, 0}));
  json classes = stump();
  classes["learner"]["objective"]["name"] = "multi:softmax";
  EXPECT_FALSE(Trees::parse(classes));
  EXPECT_FALSE(Trees::parse(json::array()));
}

}  // namespace
}  // namespace assay::predict
