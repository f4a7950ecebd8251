// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <assay/predict/train.h>

namespace assay::predict {
namespace {

using nlohmann::json;

std::string percent(double share) {
  return fmt::format("{:.1f} %", 100 * share);
}

json json_of(const Accuracy& found) {
  return {{"count", found.count},
          {"mean_absolute_error_seconds", found.mean_error},
          {"root_mean_square_error_seconds", found.root_mean_square_error},
          {"r_squared", found.r_squared},
          {"mean_relative_error", found.mean_relative_error},
          {"median_relative_error", found.median_relative_error},
          {"within_tenth", found.within_tenth},
          {"spearman", found.spearman}};
}
json json_of(const Trial& trial) {
  json found = json_of(trial.accuracy);
  found["method"] = trial.method;
  found["coverage"] = trial.coverage;
  for (const auto& [method, accuracy] : trial.tried) found["tried"][method] = json_of(accuracy);
  if (trial.fastest.count > 0)
    found["fastest"] = {{"count", trial.fastest.count},
                        {"right", trial.fastest.right},
                        {"mean_regret", trial.fastest.mean_regret}};
  return found;
}

std::string trial_text(const std::string& by, const Trial& trial) {
  const Accuracy& a = trial.accuracy;
  std::string text = fmt::format("{}: {} of unseen times within 10 %; median error {}, MAPE {}\n",
                                 by, percent(a.within_tenth), percent(a.median_relative_error),
                                 percent(a.mean_relative_error));
  text += fmt::format("  MAE {:.3g} s, RMSE {:.3g} s, R² {:.3f}, Spearman {:.3f}\n", a.mean_error,
                      a.root_mean_square_error, a.r_squared, a.spearman);
  text += fmt::format("  80 % intervals hold {}\n", percent(trial.coverage));
  if (trial.fastest.count > 0)
    text += fmt::format("  fastest device picked in {} of {} choices; mean regret {}\n",
                        percent(trial.fastest.right), trial.fastest.count,
                        percent(trial.fastest.mean_regret));
  text += fmt::format("  learned by {}", trial.method);
  for (const auto& [method, accuracy] : trial.tried)
    if (method != trial.method)
      text += fmt::format("; {} gave MAPE {}", method, percent(accuracy.mean_relative_error));
  return text + "\n";
}

}  // namespace

std::string train_text(const TrainReport& report) {
  std::string text;
  if (report.has_workload) text += trial_text("by the model's workload", report.by_workload);
  text += trial_text("by the old counts alone", report.by_counts);
  text += fmt::format("{} runs of {} models on {} tasks; {} folds by {}\n", report.runs.runs.size(),
                      report.runs.models.size(), report.runs.tasks.size(), report.folds,
                      report.by_family ? "family" : "model");
  for (const auto& one : report.left_out) text += "left out: " + one + "\n";
  return text;
}

json train_document(const TrainReport& report) {
  json found = {{"schema", 1},
                {"runs", report.runs.runs.size()},
                {"models", report.runs.models.size()},
                {"tasks", report.runs.tasks.size()},
                {"devices", report.runs.devices.size()},
                {"refused", report.runs.refused.size()},
                {"folds", report.folds},
                {"folds_by", report.by_family ? "family" : "model"},
                {"left_out", report.left_out},
                {"by_counts", json_of(report.by_counts)}};
  if (report.has_workload) found["by_workload"] = json_of(report.by_workload);
  return found;
}

}  // namespace assay::predict
