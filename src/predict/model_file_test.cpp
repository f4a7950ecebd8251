// SPDX-License-Identifier: Apache-2.0
#include "model_file.h"

#include "testing/known_world.h"

#include <nlohmann/json.hpp>

#include <assay/predict/predictor.h>
#include <assay/predict/train.h>
#include <gtest/gtest.h>

namespace assay::predict {
namespace {

using namespace testing;
using nlohmann::json;

const std::string& file_text() {
  static const std::string kText = train(known_runs(12), {})->file;
  return kText;
}
std::string error_of(const std::string& text) {
  const auto read = Predictor::parse("model.json", text);
  return read ? "" : read.error().message;
}

TEST(ModelFile, is_xgboosts_own_with_a_part_of_ours) {
  const auto document = json::parse(file_text());
  EXPECT_TRUE(document.contains("learner"));
  EXPECT_TRUE(document.contains("version"));
  EXPECT_EQ(document["learner"]["feature_names"][0], "load");
  EXPECT_EQ(document["assay"]["schema"], 1);
  EXPECT_EQ(document["assay"]["validation"]["folds_by"], "family");
}

TEST(ModelFile, keeps_what_was_learned_from) {
  const auto origin = read_origin("model.json", file_text());
  ASSERT_TRUE(origin) << origin.error().message;
  const Runs before = known_runs(12);
  EXPECT_EQ(origin->runs.runs, before.runs);
  ASSERT_EQ(origin->runs.models.size(), before.models.size());
  EXPECT_EQ(origin->runs.models[3].name, before.models[3].name);
  EXPECT_EQ(origin->runs.models[3].workload->macs(), before.models[3].workload->macs());
  EXPECT_EQ(origin->runs.models[3].counts.conv_layers, before.models[3].counts.conv_layers);
  EXPECT_EQ(train(origin->runs, {})->file, file_text()) << "so it can be learned again";
}

TEST(ModelFile, what_is_none_is_told_apart) {
  EXPECT_EQ(error_of(""), "model.json is no model file of assay train: it is not in JSON");
  EXPECT_EQ(error_of("{}"), "model.json is no model file of assay train: it has no part \"assay\"");
  EXPECT_EQ(error_of("[1]"),
            "model.json is no model file of assay train: it has no part \"assay\"");
  auto document = json::parse(file_text());
  document["assay"]["schema"] = 2;
  EXPECT_EQ(error_of(document.dump()),
            "model.json is no model file of assay train: it is of another version of assay");
}

TEST(ModelFile, what_is_missing_is_named) {
  auto document = json::parse(file_text());
  document["assay"].erase("tasks");
  EXPECT_EQ(error_of(document.dump()),
            "model.json is no model file of assay train: key 'tasks' not found");
}

/// What a wrong file says instead of a time.
TEST(ModelFile, parts_that_do_not_fit_together_are_refused) {
  const std::vector<std::pair<const char*, json>> wrongs = {
      {"/assay/by_workload/idle/base/rows", 99},
      {"/assay/by_workload/idle/items/columns", 0},
      {"/assay/by_workload/idle/plain/centres", json::array({1})},
      {"/assay/by_workload/idle/plain/weights/values/0", nullptr},
      {"/assay/by_workload/idle/method", "magic"},
      {"/assay/by_workload/features/0", "log1p(nothing_known)"},
      {"/assay/by_workload/tasks/0", 7},
      {"/assay/by_workload/widths", json::array()},
      {"/assay/by_counts/ranges/conv_layers", json::array({3})},
      {"/assay/tasks/0/device", "gone"},
      {"/assay/slowdown_factors", json::array()},
      {"/assay/devices/0/figures/bandwidth", -1},
      {"/learner/gradient_booster/model/trees/0/left_children/0", 0},
      {"/assay/by_workload/widths/0", -0.1},
      {"/assay/by_workload/widening", -1},
      {"/assay/unmeasured_width", -1},
      {"/assay/by_counts/idle/base", {{"rows", 1e15}, {"columns", 0}, {"values", json::array()}}},
      {"/learner/gradient_booster/model/trees/0/split_conditions/0", 1e300},
      {"/learner/learner_model_param/base_score", "1e300"},
      {"/learner/learner_model_param/num_feature", "3"}};
  for (const auto& [place, value] : wrongs) {
    auto document = json::parse(file_text());
    document[json::json_pointer(place)] = value;
    EXPECT_NE(error_of(document.dump()), "") << place;
  }
}

TEST(ModelFile, trees_for_idle_devices_are_kept_too) {
  auto trained = *read_model_file("model.json", file_text());
  const size_t features = trained.by_counts.recipe.features.size();
  Lesson lesson{Grid(40, features), Grid(40, trained.by_counts.recipe.costs.size()), Grid(2, 40)};
  Draw draw(1);
  for (size_t item = 0; item < 40; ++item) {
    lesson.features.at(item, 0) = draw();
    for (size_t task = 0; task < 2; ++task)
      lesson.log_times.at(task, item) = lesson.features.at(item, 0);
  }
  trained.by_counts.idle = *learn_idle(lesson, Method::boosted, 0);
  const auto booster = json::parse(file_text());
  const auto text = model_file_text(trained, booster.dump(), known_runs(12), {});
  const auto back = read_model_file("model.json", text);
  ASSERT_TRUE(back) << back.error().message;
  const std::vector<double> columns(column_count(), 3);
  EXPECT_EQ(back->by_counts.tell(columns, {}), trained.by_counts.tell(columns, {}));
}

TEST(ModelFile, runs_that_make_no_sense_are_not_learned_from) {
  const std::vector<std::pair<const char*, json>> wrongs = {{"/assay/runs/model/0", 1000},
                                                            {"/assay/runs/task/0", 1000},
                                                            {"/assay/runs/load/0", 1000},
                                                            {"/assay/runs/threads/0", -1},
                                                            {"/assay/runs/tasks/0/device", "gone"}};
  for (const auto& [place, value] : wrongs) {
    auto document = json::parse(file_text());
    document[json::json_pointer(place)] = value;
    EXPECT_FALSE(read_origin("model.json", document.dump())) << place;
  }
}

TEST(ModelFile, under_load_also_devices_without_runs_have_wider_intervals) {
  auto document = json::parse(file_text());
  document["assay"]["by_workload"]["widening"] = 1;
  const std::vector<Device> devices = {calibrated({"other", 4, 3e10, 4e9, 2e-5})};
  const auto predictor = Predictor::parse("model.json", document.dump())->with(devices);
  const auto width = [&](double load) {
    const auto told = tell_all(predictor, model::Counts(), load).at(2);
    return std::log(told.high / told.low);
  };
  EXPECT_NEAR(width(1), 2 * width(0), 1e-9);
}

TEST(ModelFile, how_well_it_told_may_be_missing) {
  for (const json& part : {json(7), json({{"mean_relative_error", "x"}})}) {
    auto document = json::parse(file_text());
    document["assay"]["validation"]["by_workload"] = part;
    const auto older = read_older("model.json", document.dump());
    ASSERT_TRUE(older) << older.error().message;
    EXPECT_EQ(older->accuracy.mean_relative_error, 0);
  }
}

}  // namespace
}  // namespace assay::predict
