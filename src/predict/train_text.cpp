// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <set>

#include <assay/predict/train.h>

namespace assay::predict {
namespace {

using nlohmann::json;

constexpr size_t kFewModels = 60;
constexpr size_t kMostNamed = 5;
constexpr size_t kLongest = 100;
constexpr size_t kMostTasks = 20;

std::string percent(double share) {
  return fmt::format("{:.1f} %", 100 * share);
}
std::string duration(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.3g} us", 1e6 * seconds);
  return seconds < 1 ? fmt::format("{:.3g} ms", 1e3 * seconds) : fmt::format("{:.3g} s", seconds);
}
std::string counted(size_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}
/// Its first line, shortened.
std::string shortened(std::string_view text) {
  text = text.substr(0, text.find('\n'));
  return text.size() <= kLongest ? std::string(text) : std::string(text.substr(0, kLongest)) + "…";
}
std::string words_of(const Task& task) {
  std::string words = task.device;
  for (const auto* more : {&task.engine, &task.precision})
    if (!more->empty()) words += " " + *more;
  return words;
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
  for (const auto& [method, accuracy] : trial.tried) {
    found["tried"][method] = json_of(accuracy);
    found["tried"][method]["bounded_error"] = accuracy.bounded_error;
  }
  if (trial.fastest.count > 0)
    found["fastest"] = {{"count", trial.fastest.count},
                        {"right", trial.fastest.right},
                        {"mean_regret", trial.fastest.mean_regret}};
  return found;
}
json json_of(const std::vector<std::pair<std::string, double>>& shares) {
  json found = json::object();
  for (const auto& [name, share] : shares) found[name] = share;
  return found;
}

/// One figure of both models, side by side.
std::string line(const char* what, const std::string& first, const std::string& second) {
  return fmt::format("  {:<24}{:>16}{:>16}\n", what, first, second);
}

template <typename Show>
std::string both(const TrainReport& report, const char* what, Show show) {
  return line(what, report.has_workload ? show(report.by_workload) : "-", show(report.by_counts));
}

std::string figures_text(const TrainReport& report) {
  std::string text = line("", "by workload", "by old counts");
  const auto add = [&](const char* what, auto show) { text += both(report, what, show); };
  add("within 10 %", [](const Trial& t) { return percent(t.accuracy.within_tenth); });
  add("median error", [](const Trial& t) { return percent(t.accuracy.median_relative_error); });
  add("MAPE", [](const Trial& t) { return percent(t.accuracy.mean_relative_error); });
  add("MAE", [](const Trial& t) { return duration(t.accuracy.mean_error); });
  add("RMSE", [](const Trial& t) { return duration(t.accuracy.root_mean_square_error); });
  add("R2", [](const Trial& t) { return fmt::format("{:.3f}", t.accuracy.r_squared); });
  add("Spearman", [](const Trial& t) { return fmt::format("{:.3f}", t.accuracy.spearman); });
  add("80 % intervals hold", [](const Trial& t) { return percent(t.coverage); });
  if (report.by_counts.fastest.count > 0) {
    add("fastest device picked", [](const Trial& t) { return percent(t.fastest.right); });
    add("mean regret", [](const Trial& t) { return percent(t.fastest.mean_regret); });
  }
  add("learned by", [](const Trial& t) { return t.method; });
  const Trial& most = report.has_workload ? report.by_workload : report.by_counts;
  for (const auto& [method, unused] : most.tried)
    add(fmt::format("  {} is off by", method).c_str(), [&name = method](const Trial& t) {
      for (const auto& [tried, accuracy] : t.tried)
        if (tried == name && accuracy.count > 0) return percent(accuracy.bounded_error);
      return std::string("-");
    });
  text += "  (on average, in logarithms, none counted above a half: the least decides)\n";
  return text;
}

std::string tasks_text(const TrainReport& report) {
  std::string text;
  size_t count = 0;
  for (const auto& one : report.tasks) {
    if (one.models == 0) continue;
    if (count++ == kMostTasks)
      return text + fmt::format("  and more of {} tasks; --json has all\n", report.tasks.size());
    text += fmt::format("  {}: {}, {} within 10 %, median error {}\n", words_of(one.task),
                        counted(one.models, "model"), percent(one.accuracy.within_tenth),
                        percent(one.accuracy.median_relative_error));
  }
  return text;
}

std::string refused_text(const std::vector<Refusal>& refused) {
  if (refused.empty()) return {};
  std::set<std::string> named;
  for (const auto& one : refused)
    named.insert(
        fmt::format("  {} on {}: {}\n", one.model, words_of(one.task), shortened(one.error)));
  std::string text = counted(refused.size(), "run") +
                     (refused.size() == 1 ? " was refused:\n" : " were refused:\n");
  size_t count = 0;
  for (const auto& name : named) {
    if (count++ == kMostNamed)
      return text + fmt::format("  and {} more\n", named.size() - count + 1);
    text += name;
  }
  return text;
}

size_t models_of(const Runs& runs) {
  std::set<size_t> models;
  for (const auto& run : runs.runs) models.insert(run.model);
  return models.size();
}

std::string table_text(const TrainReport& report) {
  size_t outliers = 0;
  for (const auto& run : report.runs.runs) outliers += run.outlier ? 1 : 0;
  std::string text = fmt::format(
      "{} of {} on {}; {}, no {} on both sides", counted(report.runs.runs.size(), "run"),
      counted(models_of(report.runs), "model"), counted(report.runs.devices.size(), "device"),
      counted(report.folds, "fold"), report.by_family ? "family" : "model");
  if (outliers > 0) text += fmt::format("; {} had little say", counted(outliers, "outlier"));
  return text + "\n";
}

std::string answer_of(const Trial& trial) {
  if (trial.accuracy.count == 0)
    return "Too few models were measured to say how well others are told.\n\n";
  return fmt::format(
      "A model that was not learned from is told within 10 % in {} of runs, and half of them "
      "within {}.\n\n",
      percent(trial.accuracy.within_tenth), percent(trial.accuracy.median_relative_error));
}

}  // namespace

std::string train_text(const TrainReport& report) {
  const Trial& trial = report.has_workload ? report.by_workload : report.by_counts;
  std::string text = answer_of(trial);
  if (const size_t models = models_of(report.runs); models < kFewModels)
    text += fmt::format(
        "Only {} measured: with {} or more, of many families, others are told better (assay model "
        "make --set, assay collect).\n\n",
        models == 1 ? "1 model was" : fmt::format("{} models were", models), kFewModels);
  text += figures_text(report) + "\n" + tasks_text(report);
  for (const auto& one : report.unseen_devices)
    text += fmt::format("  a device that was left out, {}: {} within 10 %, median error {}\n",
                        one.how, percent(one.accuracy.within_tenth),
                        percent(one.accuracy.median_relative_error));
  if (report.unseen_devices.empty())
    text +=
        "  a device that was left out: not tried, as it takes two devices that were calibrated\n";
  text += "\n" + table_text(report);
  if (!report.has_workload)
    text += "the table has no columns of the models' workload: only counts are learned from\n";
  for (const auto& one : report.left_out) text += "left out: " + one + "\n";
  return text + refused_text(report.runs.refused);
}

std::string update_text(const Older& older, const TrainReport& now) {
  const Trial& trial = now.has_workload ? now.by_workload : now.by_counts;
  const auto more = [](size_t before, size_t after) { return after > before ? after - before : 0; };
  return fmt::format(
      "{}, {} and {} more than before; within 10 %: {} before, {} now; MAPE: "
      "{} "
      "before, {} now\n",
      counted(more(older.runs.runs.size(), now.runs.runs.size()), "run"),
      counted(more(older.runs.models.size(), now.runs.models.size()), "model"),
      counted(more(older.runs.devices.size(), now.runs.devices.size()), "device"),
      percent(older.accuracy.within_tenth), percent(trial.accuracy.within_tenth),
      percent(older.accuracy.mean_relative_error), percent(trial.accuracy.mean_relative_error));
}

json train_document(const TrainReport& report) {
  json found = {{"schema", 1},
                {"runs", report.runs.runs.size()},
                {"models", report.runs.models.size()},
                {"devices", report.runs.devices.size()},
                {"refused", report.runs.refused.size()},
                {"folds", report.folds},
                {"folds_by", report.by_family ? "family" : "model"},
                {"left_out", report.left_out},
                {"by_counts", json_of(report.by_counts)},
                {"load_importance", json_of(report.load_importance)},
                {"model_importance", json_of(report.model_importance)}};
  if (report.has_workload) found["by_workload"] = json_of(report.by_workload);
  for (const auto& one : report.tasks) {
    found["tasks"].push_back(json_of(one.accuracy));
    found["tasks"].back()["task"] = {{"device", one.task.device},
                                     {"engine", one.task.engine},
                                     {"precision", one.task.precision}};
    found["tasks"].back()["models"] = one.models;
  }
  found["unseen_devices"] = json::array();
  for (const auto& one : report.unseen_devices) {
    found["unseen_devices"].push_back(json_of(one.accuracy));
    found["unseen_devices"].back()["how"] = one.how;
    found["unseen_devices"].back()["coverage"] = one.coverage;
  }
  return found;
}

}  // namespace assay::predict
