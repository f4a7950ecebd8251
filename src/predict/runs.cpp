// SPDX-License-Identifier: Apache-2.0
#include "cells.h"
#include "recipe.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <tuple>

#include <assay/base/text.h>
#include <assay/predict/runs.h>

namespace assay::predict {
namespace {

using Numbers = std::vector<double>;

/// The old counts' columns in their order; a second name is what others call it.
constexpr std::array<std::pair<const char*, const char*>, 7> kCountColumns = {
    {{"conv_layers", ""},
     {"pool_layers", ""},
     {"fully_conn_layers", "fc_layers"},
     {"filter_details", ""},
     {"total_parameters", ""},
     {"model_input_size", ""},
     {"model_output_size", ""}}};

Numbers numbers_of(const RunModel& model) {
  return model.workload ? column_values(model.counts, &*model.workload)
                        : count_values(model.counts);
}

/// Puts models, tasks and devices in lists without repeating any.
class Lists {
 public:
  explicit Lists(Runs& into) : into_(into) {
    for (size_t i = 0; i < into.models.size(); ++i) models_[key_of(into.models[i])] = i;
    for (size_t i = 0; i < into.tasks.size(); ++i) tasks_[key_of(into.tasks[i])] = i;
  }

  size_t model(const RunModel& model) {
    const auto [at, is_new] = models_.try_emplace(key_of(model), into_.models.size());
    if (is_new) into_.models.push_back(model);
    return at->second;
  }
  size_t task(const Task& task) {
    const auto [at, is_new] = tasks_.try_emplace(key_of(task), into_.tasks.size());
    if (is_new) into_.tasks.push_back(task);
    return at->second;
  }

 private:
  using ModelKey = std::pair<std::string, Numbers>;
  using TaskKey = std::tuple<std::string, std::string, std::string>;
  static ModelKey key_of(const RunModel& model) { return {model.name, numbers_of(model)}; }
  static TaskKey key_of(const Task& task) { return {task.device, task.engine, task.precision}; }

  Runs& into_;
  std::map<ModelKey, size_t> models_;
  std::map<TaskKey, size_t> tasks_;
};

/// What is not known of one is taken from the other.
void merge(Device& into, const Device& more) {
  const auto take = [](auto& to, const auto& from, bool known) {
    if (known) to = from;
  };
  take(into.uuid, more.uuid, !more.uuid.empty());
  take(into.kind, more.kind, !more.kind.empty());
  take(into.model, more.model, !more.model.empty());
  take(into.cores, more.cores, more.cores > 0);
  take(into.memory_bytes, more.memory_bytes, more.memory_bytes > 0);
  take(into.gpu_model, more.gpu_model, more.gpus > 0);
  take(into.gpu_memory_bytes, more.gpu_memory_bytes, more.gpus > 0);
  take(into.gpus, more.gpus, more.gpus > 0);
  for (const auto& [name, value] : more.figures) into.figures[name] = value;
}

/// A table's cells by our names of columns.
class Reader {
 public:
  Reader(const Cells& cells, const Cells* joined, const Mapping* mapping)
      : cells_(cells), joined_(joined), mapping_(mapping) {
    if (joined == nullptr) return;
    for (size_t row = 0; row < joined->count(); ++row)
      joined_rows_.emplace(joined->text(row, mapping->join_on), row);
  }

  Result<Runs> read() {
    ASSAY_CHECK(check());
    Runs runs;
    Lists lists(runs);
    for (size_t row = 0; row < cells_.count(); ++row)
      if (is_wanted(row)) ASSAY_CHECK(take(row, runs, lists));
    if (runs.runs.empty() && runs.refused.empty())
      return bad_input(cells_.name() + ": no run is left to learn from");
    return runs;
  }

 private:
  Result<void> check() {
    size_t found = 0;
    for (const auto& column : model::kWorkloadColumns)
      found += has(std::string(column.name)) ? 1 : 0;
    // What others' tables do not have is none of what is learned from.
    has_workload_ = found == model::kWorkloadColumns.size() || (mapping_ != nullptr && found > 0);
    if (mapping_ != nullptr) return check_mapped();
    if (!cells_.has("execution_seconds") && !cells_.has("execution_time"))
      return bad_input(cells_.name() +
                       ": has no column \"execution_seconds\" or \"execution_time\"; say with "
                       "--mapping what its columns are");
    if (!cells_.has("device")) return no_column("device");
    return {};
  }
  Result<void> check_mapped() const {
    std::vector<std::string> needed = {mapping_->time_column, mapping_->model};
    needed.insert(needed.end(), mapping_->task.begin(), mapping_->task.end());
    needed.insert(needed.end(), mapping_->device.begin(), mapping_->device.end());
    for (const auto& [column, value] : mapping_->only) needed.push_back(column);
    for (const auto& column : needed)
      if (!cells_.has(column)) return no_column(column);
    for (const auto& [ours, column] : mapping_->columns)
      if (!has(ours)) return no_column(column);
    return {};
  }
  Failure no_column(const std::string& column) const {
    return bad_input(fmt::format("{}: has no column \"{}\"", cells_.name(), column));
  }

  std::string theirs(const std::string& ours) const {
    if (mapping_ == nullptr) return ours;
    const auto found = mapping_->columns.find(ours);
    return found == mapping_->columns.end() ? ours : found->second;
  }
  bool has(const std::string& ours) const {
    const auto column = theirs(ours);
    return cells_.has(column) || (joined_ != nullptr && joined_->has(column));
  }
  /// Empty where the table has no such column.
  std::string text(size_t row, const std::string& ours) const {
    const auto column = theirs(ours);
    if (cells_.has(column)) return cells_.text(row, column);
    if (joined_ == nullptr || mapping_ == nullptr || !joined_->has(column)) return {};
    const auto found = joined_rows_.find(cells_.text(row, mapping_->join_on));
    return found == joined_rows_.end() ? std::string() : joined_->text(found->second, column);
  }
  Result<std::optional<double>> number(size_t row, const std::string& ours) const {
    const auto cell = text(row, ours);
    if (trim(cell).empty()) return std::optional<double>();
    const auto value = parse_double(trim(cell));
    if (!value || !std::isfinite(*value) || *value < 0)
      return cells_.wrong(row,
                          fmt::format("{}: \"{}\" is no number of at least 0", theirs(ours), cell));
    return value;
  }
  bool is_wanted(size_t row) const {
    return mapping_ == nullptr ||
           std::all_of(mapping_->only.begin(), mapping_->only.end(),
                       [&](const auto& one) { return cells_.text(row, one.first) == one.second; });
  }

  Result<void> take(size_t row, Runs& runs, Lists& lists) const {
    const Task task = task_of(row);
    if (text(row, "status") == "refused") {
      runs.refused.push_back({model_name(row), task, text(row, "error"), refused_numbers(row)});
      return {};
    }
    ASSAY_TRY(const auto load, number(row, "device_load_percent"));
    if (!load && is_busy(row)) return {};
    ASSAY_TRY(const auto device, device_of(row, task.device));
    ASSAY_TRY(const RunModel model, model_of(row));
    Run run;
    ASSAY_TRY(run.seconds, seconds_of(row));
    ASSAY_TRY(const auto threads, number(row, "threads"));
    run.load = std::min(load.value_or(0) / 100, 1.0);
    run.threads = threads.value_or(0);
    run.outlier = text(row, "outlier") == "1";
    ASSAY_TRY(const auto joules, number(row, "energy_joules"));
    run.joules = joules.value_or(0);
    run.model = lists.model(model);
    run.task = lists.task(task);
    add_device(runs, device);
    runs.runs.push_back(run);
    if (const auto pieces = text(row, "pieces"); !pieces.empty()) {
      auto profile = parse_profile(pieces);
      if (!profile) return cells_.wrong(row, "pieces: " + profile.error().message);
      runs.profiles.push_back({run.model, run.task, run.threads, std::move(*profile)});
    }
    return {};
  }

  /// None of a file that could not be read either.
  std::vector<double> refused_numbers(size_t row) const {
    const auto model = model_of(row);
    if (!model || !model->workload) return {};
    auto numbers = column_values(model->counts, &*model->workload);
    const bool any = std::any_of(numbers.begin(), numbers.end(), [](double n) { return n > 0; });
    return any ? numbers : std::vector<double>();
  }

  /// Whether something went on beside, as far as the table tells.
  bool is_busy(size_t row) const {
    const auto background = text(row, "background");
    return !background.empty() && background != "idle";
  }

  std::string joined_text(size_t row, const std::vector<std::string>& columns) const {
    std::string all;
    for (const auto& column : columns) {
      if (!all.empty()) all += '|';
      all += text(row, column);
    }
    return all;
  }
  /// Of a mapping, all that names a task and is neither device nor precision is the engine.
  Task task_of(size_t row) const {
    if (mapping_ == nullptr)
      return {text(row, "device"), text(row, "engine"), text(row, "precision")};
    const auto& device = mapping_->device.empty() ? mapping_->task : mapping_->device;
    std::vector<std::string> engine;
    const auto precision = theirs("precision");
    for (const auto& column : mapping_->task)
      if (column != precision && std::find(device.begin(), device.end(), column) == device.end())
        engine.push_back(column);
    return {joined_text(row, device), joined_text(row, engine), text(row, "precision")};
  }
  Result<Device> device_of(size_t row, const std::string& name) const {
    if (name.empty()) return cells_.wrong(row, "the device has no name");
    Device device;
    device.name = name;
    device.uuid = text(row, "device_uuid");
    device.kind = text(row, "device_class");
    device.model = text(row, "device_model");
    ASSAY_TRY(const auto cores, number(row, "device_cpu_cores"));
    device.cores = cores.value_or(0);
    return device;
  }
  std::string model_name(size_t row) const {
    return text(row, mapping_ == nullptr ? "model" : mapping_->model);
  }
  Result<RunModel> model_of(size_t row) const {
    RunModel model;
    Numbers counts;
    for (const auto& [name, other] : kCountColumns) {
      ASSAY_TRY(const auto value, number(row, has(name) ? name : other));
      counts.push_back(value.value_or(0));
    }
    model.counts = counts_of(counts);
    if (has_workload_) {
      ASSAY_TRY(model.workload, workload_of(row));
    }
    model.name = model_name(row);
    // A table without names: one model for all rows with the same counts.
    if (model.name.empty()) model.name = fmt::format("{}", fmt::join(numbers_of(model), "-"));
    model.family = text(row, "family");
    if (model.family.empty()) model.family = family_of(model.name);
    if (model_name(row).empty()) model.family = model.name;
    return model;
  }
  Result<model::Workload> workload_of(size_t row) const {
    model::Workload workload;
    for (const auto& column : model::kWorkloadColumns) {
      const std::string name(column.name);
      if (!has(name)) continue;
      ASSAY_TRY(const auto value, number(row, name));
      if (!value) return cells_.wrong(row, fmt::format("{} is empty", theirs(name)));
      workload.*column.value = *value;
    }
    return workload;
  }
  Result<double> seconds_of(size_t row) const {
    const bool clock = mapping_ == nullptr && trim(text(row, "execution_seconds")).empty();
    const std::string column = mapping_ != nullptr
                                   ? mapping_->time_column
                                   : (clock ? "execution_time" : "execution_seconds");
    const auto unit =
        mapping_ != nullptr ? mapping_->unit : (clock ? TimeUnit::clock : TimeUnit::seconds);
    const auto cell = cells_.has(column) ? cells_.text(row, column) : std::string();
    const auto seconds = parse_time(cell, unit);
    if (!seconds || !std::isfinite(*seconds) || !(*seconds > 0))
      return cells_.wrong(row, fmt::format("{}: \"{}\" is no time above zero", column, cell));
    return *seconds;
  }

  const Cells& cells_;
  const Cells* joined_;
  const Mapping* mapping_;
  std::map<std::string, size_t> joined_rows_;
  bool has_workload_ = true;
};

}  // namespace

std::string family_of(const std::string& model) {
  std::string file = model.substr(0, model.find('['));  // without sizes that were chosen
  const std::string name = file.substr(0, file.find_first_of("-_"));
  if (name == "mixed") return file;  // drawn at random: no two are alike
  const size_t last = name.find_last_not_of("0123456789.");
  return last == name.npos ? name : name.substr(0, last + 1);
}

Result<Runs> read_runs(const CsvSource& source, const Mapping* mapping, const CsvSource& joined) {
  ASSAY_TRY(const auto cells, Cells::read(source));
  if (mapping == nullptr || mapping->join_file.empty())
    return Reader(cells, nullptr, mapping).read();
  ASSAY_TRY(const auto more, Cells::read(joined));
  for (const auto* one : {&cells, &more})
    if (!one->has(mapping->join_on))
      return bad_input(fmt::format("{}: has no column \"{}\"", one->name(), mapping->join_on));
  return Reader(cells, &more, mapping).read();
}

void add_device(Runs& to, const Device& device) {
  const auto same = [&](const Device& one) { return one.name == device.name; };
  const auto known = std::find_if(to.devices.begin(), to.devices.end(), same);
  if (known == to.devices.end())
    to.devices.push_back(device);
  else
    merge(*known, device);
}

size_t add_runs(Runs& to, const Runs& more) {
  Lists lists(to);
  for (const auto& device : more.devices) add_device(to, device);
  const auto key = [](const Run& run) {
    return std::tuple(run.model, run.task, run.load, run.threads, run.seconds);
  };
  std::map<decltype(key(Run())), size_t> known;
  for (size_t i = 0; i < to.runs.size(); ++i) known[key(to.runs[i])] = i;
  size_t added = 0;
  for (Run run : more.runs) {
    run.model = lists.model(more.models[run.model]);
    run.task = lists.task(more.tasks[run.task]);
    if (const auto same = known.find(key(run)); same != known.end()) {
      double& joules = to.runs[same->second].joules;
      if (joules == 0) joules = run.joules;
      continue;
    }
    to.runs.push_back(run);
    ++added;
  }
  for (ModelProfile profile : more.profiles) {
    profile.model = lists.model(more.models[profile.model]);
    profile.task = lists.task(more.tasks[profile.task]);
    if (std::find(to.profiles.begin(), to.profiles.end(), profile) == to.profiles.end())
      to.profiles.push_back(std::move(profile));
  }
  const size_t before = to.refused.size();
  for (const auto& one : more.refused) {
    const auto end = to.refused.begin() + static_cast<ptrdiff_t>(before);
    const auto is_same = [&](const Refusal& other) {
      return other.model == one.model && other.task == one.task && other.numbers == one.numbers;
    };
    if (std::none_of(to.refused.begin(), end, is_same)) to.refused.push_back(one);
  }
  return added;
}

}  // namespace assay::predict
