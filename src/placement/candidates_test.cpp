// SPDX-License-Identifier: Apache-2.0
#include "recipe.h"               // of predict
#include "testing/known_world.h"  // and this

#include <assay/placement/candidates.h>
#include <assay/predict/train.h>
#include <gtest/gtest.h>

namespace assay::placement {
namespace {

using predict::Predictor;

/// Of a board that two engines were measured on, and of a server; learned once.
const Predictor& predictor() {
  static const auto kPredictor = [] {
    auto runs = predict::testing::known_runs(12);
    runs.devices[0].model = "Board 4";
    runs.tasks.push_back({"board", "other", "float32"});
    for (size_t i = 0, count = runs.runs.size(); i < count; ++i) {
      auto run = runs.runs[i];
      if (run.task == 1) runs.runs[i].joules = 7 * run.seconds;
      if (run.task != 0) continue;
      run.task = 2;
      run.seconds *= 0.8;
      runs.runs.push_back(run);
    }
    for (const auto& [number, engine] :
         {std::pair(105, "other"), {106, "other"}, {106, "opencv"}}) {
      const auto model = predict::testing::known_model(static_cast<size_t>(number));
      runs.refused.push_back({"net",
                              {"board", engine, "float32"},
                              "no such operator",
                              predict::column_values(model.counts, &*model.workload)});
    }
    const auto training = predict::train(runs, {});
    EXPECT_TRUE(training) << training.error().message;
    return Predictor::parse("model.json", training->file);
  }();
  return *kPredictor;
}

Question question(const std::string& precision = "float32", size_t number = 3) {
  const auto model = predict::testing::known_model(number);
  return {"net", model::Characteristics{model.counts, *model.workload, precision, {}}};
}

Node board(const std::string& name, double load) {
  return {.name = name, .model = "Board 4", .load = load};
}

TEST(Candidates, nodes_of_one_device_are_told_each_by_its_own_load) {
  const Fleet fleet{{board("a", .5), board("b", 0), board("c", .9), board("d", .5)}, {}};
  const auto found = candidates(predictor(), fleet, question()).list;
  ASSERT_EQ(found.size(), 4U);
  EXPECT_EQ(found[0].node.name, "a") << "the order of the fleet";
  EXPECT_LT(found[1].seconds, found[0].seconds);
  EXPECT_LT(found[0].seconds, found[2].seconds);
  EXPECT_EQ(found[3].seconds, found[0].seconds);
  for (const auto& one : found) {
    EXPECT_EQ(one.idle_seconds, found[1].seconds);
    EXPECT_EQ(one.engine, "other") << "the faster of two";
  }
}

TEST(Candidates, only_the_engine_that_will_run_the_model_counts) {
  const Fleet fleet{{board("a", 0), {.name = "server"}}, {}};
  Question asked = question();
  asked.engine = "other";
  const auto found = candidates(predictor(), fleet, asked);
  ASSERT_EQ(found.list.size(), 1U);
  EXPECT_EQ(found.list[0].engine, "other");
  ASSERT_EQ(found.left_out.size(), 1U) << "the server has another one";
  EXPECT_NE(found.left_out[0].reason.find("with other"), std::string::npos);
  EXPECT_TRUE(check_engine(predictor(), "other"));
  EXPECT_TRUE(check_engine(predictor(), ""));
  const auto unknown = check_engine(predictor(), "tensorrt");
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message.find("'tensorrt'; known: "), std::string::npos)
      << unknown.error().message;
}

TEST(Candidates, an_engine_that_refused_the_model_does_not_run_it) {
  const Fleet fleet{{board("a", 0)}, {}};
  EXPECT_EQ(candidates(predictor(), fleet, question("float32", 3)).list.at(0).engine, "other");
  EXPECT_EQ(candidates(predictor(), fleet, question("float32", 105)).list.at(0).engine, "opencv");
  const Fleet other{{{.name = "server"}}, {}};
  EXPECT_EQ(candidates(predictor(), other, question("float32", 106)).list.size(), 1U)
      << "what one device could not says nothing of another";
  const auto none = candidates(predictor(), fleet, question("float32", 106));
  EXPECT_TRUE(none.list.empty());
  ASSERT_EQ(none.left_out.size(), 1U);
  EXPECT_EQ(none.left_out[0].reason,
            "opencv refused this model when it was measured: 'no such operator'");
}

TEST(Candidates, energy_is_what_was_learned_or_the_power_that_is_told_now) {
  const Fleet fleet{{{.name = "server", .watts = 50}, board("a", .5), board("b", 0)}, {}};
  const auto found = candidates(predictor(), fleet, question()).list;
  ASSERT_EQ(found.size(), 3U);
  EXPECT_NEAR(*found[0].joules, 7 * found[0].idle_seconds, 1e-9);
  EXPECT_EQ(found[1].joules, std::nullopt);
  Node told = board("c", .5);
  told.watts = 3;
  const auto now = candidates(predictor(), {{told}, {}}, question()).list.at(0);
  EXPECT_NEAR(*now.joules, 3 * now.idle_seconds, 1e-9);
}

TEST(Candidates, many_nodes_are_told_as_each_by_itself) {
  const Fleet fleet{{{.name = "server", .load = .3}, board("a", .7), board("b", .2)}, {}};
  const auto together = candidates(predictor(), fleet, question()).list;
  ASSERT_EQ(together.size(), 3U);
  for (const auto& one : together) {
    const auto alone = candidates(predictor(), {{one.node}, {}}, question()).list.at(0);
    EXPECT_EQ(one.seconds, alone.seconds) << one.node.name;
    EXPECT_EQ(one.low, alone.low) << one.node.name;
    EXPECT_EQ(one.high, alone.high) << one.node.name;
    EXPECT_EQ(one.idle_seconds, alone.idle_seconds) << one.node.name;
  }
}

TEST(Candidates, a_node_like_none_that_was_learned_is_left_out_with_the_reason) {
  const Fleet fleet{{{.name = "x", .model = "Board 9"}, board("a", 0)}, {{"gone", "it is gone"}}};
  const auto found = candidates(predictor(), fleet, question());
  ASSERT_EQ(found.list.size(), 1U);
  ASSERT_EQ(found.left_out.size(), 2U);
  EXPECT_EQ(found.left_out[0].node, "gone");
  EXPECT_TRUE(found.left_out[1].reason.starts_with("nothing was learned of devices like it (Boa"));
}

}  // namespace
}  // namespace assay::placement
