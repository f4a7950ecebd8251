// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <filesystem>

#include <assay/base/files.h>
#include <assay/collect/collect.h>
#include <assay/predict/runs.h>
#include <assay/zoo/zoo.h>
#include <gtest/gtest.h>

namespace assay::collect {
namespace {

namespace fs = std::filesystem;

/// An engine that answers to loading, and to so many questions for times in each of its lives. What
/// it does when it is asked for the times of operators stands in a file.
constexpr const char* kEngine = R"(#!/bin/sh
echo '{"engine": "test", "version": "7"}'
left=$(cat "$0.answers")
while read line; do
  case $line in *load*) echo '{"seconds": 0.1}'; continue;; *profile*) . "$0.profile"; continue;; esac
  left=$((left - 1))
  [ $left -lt 0 ] && exec sleep 1000
  echo '{"times": [0.25, 0.25, 0.25, 0.25, 0.25]}'
done
)";

class CollectTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "assay-collect-XXXXXX").native();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    make_model(0.1);
    const auto engine = folder_ / "engine";
    ASSERT_TRUE(write_file(engine, kEngine));
    fs::permissions(engine, fs::perms::owner_all);
    profile_is(R"(echo '{"error": "\"profile\" is not known"}')");
    options_.models = folder_ / "a.onnx";
    options_.file = folder_ / "t.csv";
    options_.device = "pi";
    options_.engines = {engine.native()};
    options_.iterations = 2;
    options_.seconds = 0.01;
    options_.patience = 1;  // a busy machine may wake the engine late
  }
  void TearDown() override { fs::remove_all(folder_); }

  Collected collected(int answers) {
    EXPECT_TRUE(write_file(folder_ / "engine.answers", std::to_string(answers)));
    auto found = collect(options_, {.progress = {}, .wanted = [] { return true; }});
    EXPECT_TRUE(found) << found.error().message;
    return found ? *found : Collected();
  }

  void make_model(double width) {
    zoo::Recipe recipe;
    recipe.family = "squeezenet";
    recipe.width = width;
    recipe.resolution = 32;
    ASSERT_TRUE(zoo::make_model(recipe, folder_ / "a.onnx"));
  }
  void profile_is(const std::string& script) {
    ASSERT_TRUE(write_file(folder_ / "engine.profile", script + "\n"));
  }
  std::string table() const { return read_file(options_.file, 1 << 20).value_or(""); }

  Options options_;

 private:
  fs::path folder_;
};

TEST_F(CollectTest, what_is_not_in_time_beside_other_work_is_tried_again_by_another_call) {
  const Collected first = collected(2);  // to warm up and to be timed, of the first iteration
  EXPECT_EQ(first.measured, 1U);
  EXPECT_EQ(first.late, 1U);
  EXPECT_EQ(first.refused, 0U);
  const Collected second = collected(2);
  EXPECT_EQ(second.before, 1U);
  EXPECT_EQ(second.measured, 1U);
  EXPECT_EQ(second.late, 0U);
}

TEST_F(CollectTest, what_an_idle_device_does_not_do_in_time_is_refused) {
  options_.load = Load::idle;
  const Collected first = collected(0);
  EXPECT_EQ(first.refused, 1U);
  EXPECT_EQ(first.late, 0U);
  EXPECT_EQ(collected(2).measured, 0U);
}

TEST_F(CollectTest, another_model_of_the_same_name_is_refused) {
  options_.load = Load::idle;
  EXPECT_EQ(collected(10).measured, 2U);
  make_model(0.3);
  const auto other = collect(options_, {.progress = {}, .wanted = [] { return true; }});
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().message.find("has rows of another model called a"), std::string::npos)
      << other.error().message;
}

TEST_F(CollectTest, what_was_no_model_is_tried_again_when_it_is_one) {
  options_.load = Load::idle;
  ASSERT_TRUE(write_file(options_.models, "a poem"));
  EXPECT_EQ(collected(10).refused, 1U);
  EXPECT_EQ(collected(10).refused, 0U) << "and it is said once";
  make_model(0.1);
  EXPECT_EQ(collected(0).refused, 1U);
  EXPECT_EQ(collected(10).measured, 0U) << "a model that was refused is not tried again";
}

TEST_F(CollectTest, tells_what_pieces_take_where_the_engine_does) {
  options_.load = Load::idle;
  profile_is(R"(echo '{"operators": [{"name": "Relu_1", "seconds": 0.1}], "times": [0.2]}')");
  EXPECT_EQ(collected(10).measured, 2U);
  const auto runs = predict::read_runs({"t.csv", table()});
  ASSERT_TRUE(runs) << runs.error().message;
  ASSERT_EQ(runs->profiles.size(), 2U);
  const auto& profile = runs->profiles[0].profile;
  ASSERT_GT(profile.pieces.size(), 5U);
  EXPECT_EQ(profile.pieces[0].kind, "conv");
  EXPECT_EQ(profile.seconds[0], 0.1);
  EXPECT_EQ(profile.pieces.back().kind, "call");
  EXPECT_EQ(profile.seconds.back(), 0.1);
}

TEST_F(CollectTest, what_was_to_compute_on_a_gpu_is_not_measured_elsewhere) {
  options_.load = Load::idle;
  options_.gpu = true;
  EXPECT_EQ(collected(10).refused, 1U);
  EXPECT_NE(table().find("test-gpu"), std::string::npos) << table();
  EXPECT_NE(table().find("does not say that it computes on the GPU"), std::string::npos);
  options_.gpu = false;
  EXPECT_EQ(collected(10).measured, 2U) << "the same engine without is another";
}

TEST_F(CollectTest, an_engine_that_ends_when_asked_for_operators_costs_nothing_else) {
  options_.load = Load::idle;
  profile_is("exit 3");
  EXPECT_EQ(collected(10).measured, 2U);
  const auto runs = predict::read_runs({"t.csv", table()});
  ASSERT_TRUE(runs) << runs.error().message;
  EXPECT_EQ(runs->runs.size(), 2U);
  EXPECT_TRUE(runs->profiles.empty());
}

}  // namespace
}  // namespace assay::collect
