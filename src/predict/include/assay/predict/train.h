// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include <assay/base/result.h>
#include <assay/predict/measures.h>
#include <assay/predict/runs.h>

namespace assay::predict {

struct TrainOptions {
  uint64_t seed = 0;
  const Mapping* mapping = nullptr;  ///< its features are used where it has some
  /// Told now and then what is being done; may be empty.
  std::function<void(const std::string&)> progress;
};

/// A time that was told without having seen its model, beside what was measured.
struct ToldRun {
  size_t run = 0;
  double seconds = 0;
  double low = 0;
  double high = 0;
};

/// How well a way of telling times did on models that it had not seen.
struct Trial {
  std::string method;
  std::vector<std::pair<std::string, Accuracy>> tried;  ///< all methods, the chosen one too
  std::vector<ToldRun> told;
  Accuracy accuracy;
  double coverage = 0;  ///< of intervals that are to hold 80 %
  Choices fastest;      ///< of devices, each at the load that it had; none with one device
};

/// How well a device that was left out was told.
struct DeviceTrial {
  std::string how;
  Accuracy accuracy;
  double coverage = 0;
};

/// How well one task was told.
struct TaskTrial {
  Task task;
  size_t models = 0;
  Accuracy accuracy;
};

/// What was found out about a table and what was learned from it.
struct TrainReport {
  Runs runs;
  size_t folds = 0;
  bool by_family = false;  ///< folds are of families; else of models
  std::vector<std::string> left_out;
  bool has_workload = false;
  Trial by_workload;  ///< where there is one
  Trial by_counts;
  std::vector<TaskTrial> tasks;  ///< by the workload where there is one
  std::vector<DeviceTrial> unseen_devices;
  /// Of what slows a model down, and of what it is like; shares that add up to 1.
  std::vector<std::pair<std::string, double>> load_importance;
  std::vector<std::pair<std::string, double>> model_importance;
};

struct Training {
  std::string file;  ///< the text of the model file
  TrainReport report;
};

/// Learns from runs and validates what was learned on models that were left out.
Result<Training> train(const Runs& runs, const TrainOptions& options);

/// What an older model file was learned from, to be learned from again, and how good it was.
struct Older {
  Runs runs;
  Accuracy accuracy;  ///< on models that it had not seen; only what shares there were
};
Result<Older> read_older(const std::string& name, const std::string& text);
/// What is new: "120 runs and 4 models more; within 10 %: 82.6 % before, 85.1 % now".
std::string update_text(const Older& older, const TrainReport& now);

/// For people: the answer first.
std::string train_text(const TrainReport& report);
nlohmann::json train_document(const TrainReport& report);
/// A page with pictures that needs no other file: told over measured times, what was off, and what
/// counts.
std::string train_page(const TrainReport& report);

}  // namespace assay::predict
