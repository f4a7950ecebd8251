// SPDX-License-Identifier: Apache-2.0
// How well times of a table are told, as JSON:
//   placement_accuracy models TABLE MAPPING SEED [TIME_COLUMN [PREFIX LEAST]]
// tells unseen models, 10-fold. With PREFIX, also which task is the fastest, among tasks whose
// names begin with it and whose system (the name without its last part) has at least LEAST times.
//   placement_accuracy devices TABLE MAPPING SEED TIME_COLUMN any|chosen RUNS
// tells unseen devices by some runs on each.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <assay/base/files.h>
#include <assay/predict/leave_devices_out.h>
#include <assay/predict/validate.h>

namespace {

using namespace assay;
using namespace assay::predict;
using nlohmann::json;

constexpr size_t kFolds = 10;

Result<Table> table_of(const std::string& csv, const std::string& mapping_file,
                       const std::string& time_column) {
  ASSAY_TRY(const auto text, read_file(mapping_file));
  ASSAY_TRY(auto mapping, read_mapping(mapping_file, text));
  if (!time_column.empty()) mapping.time_column = time_column;
  return read_table(csv, mapping);
}

json json_of(const Accuracy& found) {
  return {{"count", found.count},
          {"mape", 100 * found.mean_relative_error},
          {"median", 100 * found.median_relative_error},
          {"within", 100 * found.within_tenth},
          {"mae_seconds", found.mean_error},
          {"rmse_seconds", found.root_mean_square_error},
          {"r_squared", found.r_squared},
          {"spearman", found.spearman}};
}

/// The mean over tasks of the rank correlation within each.
double mean_spearman(const Table& table, const Validation& found) {
  double sum = 0;
  for (size_t task = 0; task < table.tasks.size(); ++task) {
    std::vector<double> told;
    std::vector<double> actual;
    for (size_t item = 0; item < table.items.size(); ++item) {
      if (std::isnan(table.seconds.at(task, item)) || std::isnan(found.seconds.at(task, item)))
        continue;
      told.push_back(found.seconds.at(task, item));
      actual.push_back(table.seconds.at(task, item));
    }
    sum += spearman(told, actual) / static_cast<double>(table.tasks.size());
  }
  return sum;
}

std::string system_of(const std::string& task) {
  return task.substr(0, task.rfind('|'));
}

/// The tasks to choose from, by precision.
std::map<std::string, std::vector<size_t>> chosen_tasks(const Table& table,
                                                        const std::string& prefix, size_t least) {
  std::map<std::string, size_t> times;
  for (size_t task = 0; task < table.tasks.size(); ++task)
    for (const double time : table.seconds.row(task))
      if (!std::isnan(time)) ++times[system_of(table.tasks[task])];
  std::map<std::string, std::vector<size_t>> chosen;
  for (size_t task = 0; task < table.tasks.size(); ++task) {
    const auto& name = table.tasks[task];
    if (name.starts_with(prefix) && times[system_of(name)] >= least)
      chosen[name.substr(name.rfind('|') + 1)].push_back(task);
  }
  return chosen;
}

json fastest(const Table& table, const Validation& found, const std::string& prefix, size_t least) {
  std::vector<std::vector<Judged>> all;
  size_t systems = 0;
  for (const auto& [precision, tasks] : chosen_tasks(table, prefix, least)) {
    systems = std::max(systems, tasks.size());
    for (auto& choice : choices(table, found, tasks)) all.push_back(std::move(choice));
  }
  const Choices how = judge_choices(all);
  std::vector<size_t> wins(systems);
  for (const auto& choice : all) {
    size_t best = 0;
    for (size_t i = 1; i < choice.size(); ++i)
      if (choice[i].actual < choice[best].actual) best = i;
    ++wins[best];
  }
  const size_t most = wins.empty() ? 0 : *std::max_element(wins.begin(), wins.end());
  return {{"systems", systems},
          {"items", how.count},
          {"right", 100 * how.right},
          {"regret", 100 * how.mean_regret},
          {"constant",
           all.empty() ? 0.0 : 100 * static_cast<double>(most) / static_cast<double>(all.size())}};
}

Result<json> unseen_models(const std::vector<std::string>& words) {
  const auto word = [&](size_t i) { return i < words.size() ? words[i] : std::string(); };
  ASSAY_TRY(const auto table, table_of(word(1), word(2), word(4)));
  ASSAY_TRY(const auto found, validate(table, kFolds, std::strtoull(word(3).c_str(), nullptr, 10)));
  json result = json_of(accuracy(judged(table, found)));
  result["tasks"] = table.tasks.size();
  result["models"] = table.items.size();
  result["spearman"] = mean_spearman(table, found);
  result["coverage"] = 100 * coverage(intervals(table, found));
  if (words.size() > 6)
    result["fastest"] = fastest(table, found, word(5), std::strtoull(word(6).c_str(), nullptr, 10));
  return result;
}

Result<json> unseen_devices(const std::vector<std::string>& words) {
  if (words.size() < 7) return bad_input("devices needs a column, any or chosen, and RUNS");
  ASSAY_TRY(const auto table, table_of(words[1], words[2], words[4]));
  const auto number = [&](size_t i) { return std::strtoull(words[i].c_str(), nullptr, 10); };
  const NewDeviceTrial trial{
      .runs = number(6), .runs_chosen = words[5] == "chosen", .seed = number(3)};
  const auto found = leave_devices_out(table, trial);
  json result = json_of(accuracy(found.judged));
  result["tasks"] = table.tasks.size();
  result["coverage"] = 100 * coverage(found.intervals);
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() < 4 || (words[0] != "models" && words[0] != "devices")) {
    std::fputs("usage: placement_accuracy models|devices TABLE MAPPING SEED [COLUMN ...]\n",
               stderr);
    return 2;
  }
  const auto result = words[0] == "models" ? unseen_models(words) : unseen_devices(words);
  if (!result) {
    std::fprintf(stderr, "%s\n", result.error().message.c_str());
    return 1;
  }
  std::printf("%s\n", result->dump().c_str());
  return 0;
}
