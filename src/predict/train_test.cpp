// SPDX-License-Identifier: Apache-2.0
#include "recipe.h"
#include "testing/known_world.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include <assay/predict/predictor.h>
#include <assay/predict/train.h>
#include <gtest/gtest.h>

namespace assay::predict {
namespace {

using namespace testing;

constexpr size_t kModels = 48;

/// Learned once for all tests.
const Training& trained() {
  static const auto kTraining = train(known_runs(kModels), {});
  EXPECT_TRUE(kTraining) << kTraining.error().message;
  return *kTraining;
}
const Predictor& predictor() {
  static const auto kPredictor = Predictor::parse("model.json", trained().file);
  EXPECT_TRUE(kPredictor) << kPredictor.error().message;
  return *kPredictor;
}
model::Characteristics asked_model(size_t number) {
  const RunModel model = known_model(number);
  return {model.counts, *model.workload, "float32", {}};
}
/// The mean of how far off models are that were not learned from.
double mean_error(double load) {
  double sum = 0;
  for (size_t number = 100; number < 120; ++number) {
    const auto model = asked_model(number);
    const auto told = tell_all(predictor(), model, load);
    EXPECT_EQ(told.size(), kKnownDevices.size());
    for (const auto& one : told) {
      const double truth =
          known_seconds(kKnownDevices.at(one.task), model.workload) * known_slowdown(load);
      sum += std::abs(one.seconds / truth - 1) / static_cast<double>(20 * told.size());
      EXPECT_LT(one.low, one.seconds);
      EXPECT_GT(one.high, one.seconds);
      EXPECT_EQ(one.doubt, "");
    }
  }
  return sum;
}

TEST(Train, tells_models_that_it_has_not_seen) {
  EXPECT_LT(mean_error(0), 0.05);
}
TEST(Train, tells_them_beside_other_work) {
  EXPECT_LT(mean_error(0.4), 0.06);
  EXPECT_LT(mean_error(0.9), 0.06);
}

TEST(Train, time_never_falls_when_the_load_rises) {
  for (size_t task = 0; task < kKnownDevices.size(); ++task) {
    double last = 0;
    for (int step = 0; step <= 20; ++step) {
      const double load = step / 20.0;
      const double seconds = tell_all(predictor(), asked_model(3), load).at(task).seconds;
      EXPECT_GE(seconds, last) << load;
      last = seconds;
    }
  }
}

TEST(Train, devices_and_tasks_are_kept) {
  ASSERT_EQ(predictor().devices().size(), 2U);
  EXPECT_EQ(predictor().devices()[1].name, "server");
  EXPECT_EQ(predictor().devices()[1].cores, 8);
  ASSERT_EQ(predictor().tasks().size(), 2U);
  EXPECT_EQ(predictor().tasks()[0].device, "board");
  EXPECT_EQ(predictor().tasks()[0].engine, "opencv");
  EXPECT_EQ(predictor().tasks()[0].threads, 4);
}

TEST(Train, validation_is_by_family_and_honest) {
  const auto& report = trained().report;
  EXPECT_TRUE(report.by_family);
  EXPECT_EQ(report.folds, 6U);
  EXPECT_EQ(report.by_workload.accuracy.count, kModels * 12);
  EXPECT_LT(report.by_workload.accuracy.mean_relative_error, 0.08);
  EXPECT_NEAR(report.by_workload.coverage, 0.8, 0.03);
  EXPECT_EQ(report.by_workload.fastest.right, 1);
  EXPECT_GT(report.by_counts.accuracy.mean_relative_error,
            report.by_workload.accuracy.mean_relative_error);
}

TEST(Train, engines_of_one_device_are_no_choice_between_devices) {
  Runs runs = known_runs(12, {kKnownDevices.front()});
  runs.tasks.push_back({"board", "other", "float32"});
  for (size_t i = 0, count = runs.runs.size(); i < count; ++i) {
    auto run = runs.runs[i];
    run.task = 1;
    run.seconds *= 1.5;
    runs.runs.push_back(run);
  }
  const auto training = train(runs, {});
  ASSERT_TRUE(training) << training.error().message;
  EXPECT_EQ(training->report.by_workload.fastest.count, 0U);
}

TEST(Train, threads_that_are_not_told_are_as_many_as_there_are_cores) {
  auto runs = known_runs(30);
  const double cores = runs.devices[runs.runs[0].task].cores;
  ASSERT_EQ(runs.runs[0].threads, cores);
  for (size_t i = 0; i < 5; ++i) runs.runs[i].threads = 0;
  const auto training = train(runs, {});
  ASSERT_TRUE(training) << training.error().message;
  EXPECT_EQ(training->report.left_out, std::vector<std::string>());
}

TEST(Train, runs_with_other_threads_than_most_are_left_out_and_named) {
  Runs runs = known_runs(12);
  for (size_t i = 0; i < 5; ++i) runs.runs[i].threads = 1;
  const auto training = train(runs, {});
  ASSERT_TRUE(training) << training.error().message;
  EXPECT_EQ(
      training->report.left_out,
      (std::vector<std::string>{"board opencv float32: 5 runs with 1 threads, as most have 4"}));
  EXPECT_EQ(training->report.runs.runs.size(), runs.runs.size() - 5);
}

TEST(Train, counts_alone_give_wider_intervals) {
  const auto model = asked_model(5);
  const auto by_all = tell_all(predictor(), model).at(0);
  const auto by_counts = tell_all(predictor(), model.counts).at(0);
  EXPECT_GT(by_counts.high / by_counts.low, by_all.high / by_all.low);
  EXPECT_EQ(by_counts.doubt, "");
}

TEST(Train, energy_is_time_at_the_power_that_was_measured) {
  Runs runs = known_runs(12);
  for (auto& run : runs.runs)
    if (run.task == 1) run.joules = run.seconds * (run.load > 0 ? 90 : 5);
  const auto training = train(runs, {});
  ASSERT_TRUE(training) << training.error().message;
  const auto predictor = Predictor::parse("model.json", training->file);
  ASSERT_TRUE(predictor) << predictor.error().message;
  const auto told = tell_all(*predictor, asked_model(3));
  EXPECT_EQ(told.at(0).joules, 0);
  EXPECT_NEAR(told.at(1).joules, 5 * told.at(1).seconds, 1e-9);
  const auto older = read_older("model.json", training->file);
  ASSERT_TRUE(older) << older.error().message;
  EXPECT_EQ(older->runs.runs, runs.runs);
}

TEST(Train, what_was_never_idle_is_doubted_when_idle) {
  Runs runs = known_runs(24);
  for (size_t i = 0; i < runs.runs.size(); ++i)
    runs.runs[i].load = i % 2 == 0 ? .98 : 1;  // something else was going on
  const auto training = train(runs, {});
  ASSERT_TRUE(training) << training.error().message;
  const auto busy_only = Predictor::parse("m.json", training->file);
  ASSERT_TRUE(busy_only) << busy_only.error().message;
  const auto idle = tell_all(*busy_only, asked_model(100), 0).at(0);
  EXPECT_EQ(idle.doubt, "nothing was measured there at less than 98 % load");
  const auto busy = tell_all(*busy_only, asked_model(100), 1).at(0);
  EXPECT_EQ(busy.doubt, "");
  EXPECT_NEAR(idle.high / idle.seconds, busy.high / busy.seconds, 1e-6)
      << "no narrower where nothing was measured";
}

TEST(Train, what_was_run_after_all_was_not_refused) {
  Runs runs = known_runs(12);
  const RunModel& model = runs.models[runs.runs[0].model];
  runs.refused.push_back({model.name, runs.tasks[runs.runs[0].task], "not in time",
                          column_values(model.counts, &*model.workload)});
  const auto training = train(runs, {});
  ASSERT_TRUE(training) << training.error().message;
  const auto learned = Predictor::parse("m.json", training->file);
  ASSERT_TRUE(learned) << learned.error().message;
  const auto asked = asked_model(runs.runs[0].model);
  EXPECT_EQ(tell_all(*learned, asked, 0).size(), kKnownDevices.size());
}

TEST(Train, hostile_counts_give_a_time_and_a_doubt) {
  model::Counts counts;
  for (const double size : {0.0, 66'666'666.0, 1e19, 1e300}) {
    counts.conv_layers = static_cast<uint64_t>(std::min(size, 1e18));
    counts.filter_details = size;
    counts.total_parameters = size;
    counts.model_input_size = size;
    counts.model_output_size = size;
    const auto told = tell_all(predictor(), counts);
    ASSERT_EQ(told.size(), 2U);
    for (const auto& one : told) {
      EXPECT_TRUE(std::isfinite(one.seconds) && std::isfinite(one.high)) << size;
      EXPECT_GT(one.low, 0) << size;
      EXPECT_NE(one.doubt, "") << size;
      const auto usual = tell_all(predictor(), asked_model(5).counts).at(one.task);
      if (size > 1e8) {
        EXPECT_GT(one.high / one.low, 10 * usual.high / usual.low) << size;
      }
    }
  }
}

TEST(Train, work_of_a_kind_that_was_never_seen_is_doubted_where_it_is_much) {
  auto model = asked_model(5);
  model.workload.macs_matmul = 0.01 * model.workload.macs();
  EXPECT_EQ(tell_all(predictor(), model).at(0).doubt, "");
  model.workload.macs_matmul = 2e8;
  EXPECT_EQ(tell_all(predictor(), model).at(0).doubt,
            "200 000 000 macs matmul, where the models that were learned from have 0 to 0");
}
TEST(Train, another_precision_is_told_with_doubt) {
  auto model = asked_model(5);
  model.precision = "int8";
  const auto told = tell_all(predictor(), model);
  ASSERT_EQ(told.size(), 2U);
  EXPECT_EQ(told[0].doubt, "nothing was measured in int8; other precisions stand in");
}

/// The mean error of idle times on the device of one task, over models that were not learned from.
double mean_error_on(const Predictor& predictor, size_t task, const KnownDevice& device) {
  double sum = 0;
  for (size_t number = 100; number < 120; ++number) {
    const auto model = asked_model(number);
    const double told = tell_all(predictor, model).at(task).seconds;
    sum += std::abs(told / known_seconds(device, model.workload) - 1) / 20;
  }
  return sum;
}

TEST(Train, a_device_without_runs_is_told_by_its_calibration) {
  const KnownDevice other{"other", 4, 3e10, 4e9, 2e-5};
  Runs runs = known_runs(kModels);
  add_device(runs, calibrated(other));
  const auto training = train(runs, {});
  ASSERT_TRUE(training);
  const auto predictor = *Predictor::parse("model.json", training->file);
  ASSERT_EQ(predictor.tasks().size(), 3U);
  EXPECT_EQ(predictor.tasks()[2].device, "other");
  EXPECT_LT(mean_error_on(predictor, 2, other), 0.2);
  const auto told = tell_all(predictor, asked_model(3));
  ASSERT_EQ(told.size(), 3U);
  EXPECT_EQ(told[2].doubt, "nothing was run on this device; its calibration stands in");
  EXPECT_GT(told[2].high / told[2].low, told[0].high / told[0].low);
  EXPECT_EQ(tell_all(predictor, asked_model(3).counts).size(), 3U);
  ASSERT_EQ(training->report.unseen_devices.size(), 1U);
  EXPECT_EQ(training->report.unseen_devices[0].accuracy.count, 2 * kModels);
}

TEST(Train, a_device_can_be_added_when_it_was_calibrated) {
  const KnownDevice other{"other", 4, 3e10, 4e9, 2e-5};
  Device not_calibrated;
  not_calibrated.name = "bare";
  const std::vector<Device> devices = {calibrated(other), not_calibrated, predictor().devices()[0]};
  const Predictor more = predictor().with(devices);
  ASSERT_EQ(more.tasks().size(), 3U) << "nothing can be told of a bare one";
  EXPECT_EQ(more.tasks()[2].device, "other");
  EXPECT_LT(mean_error_on(more, 2, other), 0.2);
  EXPECT_EQ(tell_all(more, asked_model(3)).at(1).seconds,
            tell_all(predictor(), asked_model(3)).at(1).seconds);
}

TEST(Train, a_device_that_was_calibrated_later_has_its_newer_figures) {
  Device newer;
  newer.name = predictor().devices()[0].name;
  newer.figures["network_bytes_per_second"] = 1e7;
  const Predictor more = predictor().with(std::vector<Device>{newer});
  ASSERT_EQ(more.devices().size(), predictor().devices().size());
  EXPECT_EQ(more.devices()[0].figures.at("network_bytes_per_second"), 1e7);
  EXPECT_EQ(more.devices()[0].cores, predictor().devices()[0].cores);
  for (const auto& [name, value] : predictor().devices()[0].figures)
    EXPECT_EQ(more.devices()[0].figures.at(name), value) << name;
}

TEST(Train, a_device_with_few_runs_is_told_by_what_the_others_do) {
  Draw draw(3);
  std::vector<KnownDevice> devices;
  for (size_t i = 0; i < 6; ++i) {
    const double fast = std::exp(draw.between(-1, 2));
    devices.push_back({"d" + std::to_string(i), 4, 1e10 * fast * draw.between(0.5, 2),
                       3e9 * fast * draw.between(0.5, 2), 2e-5 / fast});
  }
  Runs runs = known_runs(kModels, devices);
  std::erase_if(runs.runs, [](const auto& run) { return run.task == 5 && run.model >= 6; });
  const auto training = train(runs, {});
  ASSERT_TRUE(training);
  const auto predictor = *Predictor::parse("model.json", training->file);
  EXPECT_LT(mean_error_on(predictor, 5, devices[5]), 0.02);
}

TEST(Train, the_same_seed_gives_the_same_file) {
  const Runs runs = known_runs(12);
  EXPECT_EQ(train(runs, {})->file, train(runs, {})->file);
}

TEST(Train, the_page_stands_by_itself_and_names_do_no_harm) {
  TrainReport report = trained().report;
  report.runs.tasks[0].device = "<script>alert(1)</script>";
  const std::string page = train_page(report);
  EXPECT_NE(page.find("<svg"), std::string::npos);
  EXPECT_EQ(page.find("<script"), std::string::npos);
  EXPECT_NE(page.find("&lt;script&gt;"), std::string::npos);
  EXPECT_EQ(page.find("http"), std::string::npos);
  EXPECT_EQ(page.find(">nan"), std::string::npos);
}
TEST(Train, few_models_are_validated_too) {
  const auto training = train(known_runs(5), {});
  ASSERT_TRUE(training);
  EXPECT_EQ(training->report.by_workload.accuracy.count, 5U * 12);
  const auto told = tell_all(*Predictor::parse("model.json", training->file), asked_model(9));
  ASSERT_EQ(told.size(), 2U);
  EXPECT_GT(told[0].high / told[0].low, 1.02);
}

TEST(Train, what_cannot_be_validated_is_told_with_wide_intervals) {
  Runs runs = known_runs(12);
  for (auto& model : runs.models) model.name = model.family = "all are forms of one";
  const auto training = train(runs, {});
  ASSERT_TRUE(training) << training.error().message;
  EXPECT_TRUE(train_text(training->report).starts_with("Too few models were measured"));
  const auto told = tell_all(*Predictor::parse("model.json", training->file), asked_model(9));
  ASSERT_EQ(told.size(), 2U);
  EXPECT_GT(told[0].high / told[0].low, 5);
}

TEST(Train, too_few_models_are_refused) {
  const auto few = train(known_runs(4), {});
  ASSERT_FALSE(few);
  EXPECT_EQ(few.error().message,
            "board opencv float32: 4 models were measured, and 5 are needed to learn from");
}

}  // namespace
}  // namespace assay::predict
