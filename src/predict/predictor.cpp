// SPDX-License-Identifier: Apache-2.0
#include "model_file.h"
#include "teller.h"
#include "unmeasured.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

#include <assay/base/files.h>
#include <assay/predict/predictor.h>

namespace assay::predict {

struct Predictor::State {
  Trained trained;
};

namespace {

constexpr size_t kLargestFile = size_t{512} << 20U;
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
/// In logarithms, so that times and intervals stay finite.
constexpr double kMostLog = 50;
constexpr double kMostWidth = 20;

/// Tells one model's times on all tasks.
class Answer {
 public:
  Answer(const Trained& trained, std::span<const double> loads)
      : trained_(trained), loads_(loads), told_(trained.tasks.size()), logs_(told_.size(), kNone) {}

  /// Only tasks of this precision are wanted, unless there is none.
  bool only(const std::string& precision) {
    const auto has = [&](const Task& task) { return task.precision == precision; };
    if (!std::any_of(trained_.tasks.begin(), trained_.tasks.end(), has)) return false;
    precision_ = precision;
    return true;
  }
  void add(const Teller& teller, const std::vector<double>& columns, const std::string& doubt) {
    const auto logs = teller.tell(columns);
    for (size_t row = 0; row < logs.size(); ++row) {
      const size_t task = teller.tasks[row];
      if (!std::isnan(logs_[task])) continue;
      logs_[task] = logs[row];
      told_[task] = {teller.width(row, load(task)), &doubt};
    }
  }
  void add_unmeasured(const model::Workload* workload, const std::string& doubt) {
    for (const auto& one : trained_.unmeasured) {
      const auto log = one.tell(trained_, logs_, workload);
      if (!log) continue;
      logs_[one.task] = *log;
      told_[one.task] = {one.width * (1 + trained_.main().widening * load(one.task)), &doubt};
    }
  }
  /// Whether all measured tasks are told.
  bool complete() const {
    const auto missing =
        std::count_if(logs_.begin(), logs_.end(), [](double log) { return std::isnan(log); });
    return static_cast<size_t>(missing) <= trained_.unmeasured.size();
  }
  std::vector<Estimate> estimates(const model::Workload* workload) const {
    std::vector<size_t> tasks;
    std::vector<Surroundings> around;
    for (size_t task = 0; task < logs_.size(); ++task) {
      if (std::isnan(logs_[task]) || !wanted(task)) continue;
      const TaskFacts& facts = trained_.facts[task];
      tasks.push_back(task);
      around.push_back({load(task), facts.threads, logs_[task], facts.place, workload});
    }
    const auto slowdowns = trained_.slowdown.tell(tasks, around);
    std::vector<Estimate> all;
    all.reserve(tasks.size());
    for (size_t i = 0; i < tasks.size(); ++i) {
      const size_t task = tasks[i];
      const double log = std::clamp(logs_[task] + slowdowns[i], -kMostLog, kMostLog);
      const double width = std::min(told_[task].width, kMostWidth);
      all.push_back(
          {task, std::exp(log), std::exp(log - width), std::exp(log + width), *told_[task].doubt});
    }
    return all;
  }

 private:
  struct One {
    double width = 0;
    const std::string* doubt = nullptr;
  };
  bool wanted(size_t task) const {
    return precision_.empty() || trained_.tasks[task].precision == precision_;
  }
  double load(size_t task) const {
    return task < loads_.size() ? std::clamp(loads_[task], 0.0, 1.0) : 0;
  }

  const Trained& trained_;
  std::span<const double> loads_;
  std::string precision_;
  std::vector<One> told_;
  std::vector<double> logs_;  ///< on idle devices
};

constexpr const char* kUnmeasured = "nothing was run on this device; its calibration stands in";

/// Takes figures that are newer than what was learned. How a device that was run suffers from a
/// load stays as it was learned.
void renew(Trained& trained, size_t number, const Device& newer) {
  Device& device = trained.devices[number];
  for (const auto& [name, value] : newer.figures) device.figures[name] = value;
  if (newer.memory_bytes > 0) device.memory_bytes = newer.memory_bytes;
  for (const auto& one : trained.unmeasured) {
    TaskFacts& facts = trained.facts[one.task];
    if (facts.device == number) facts.place = place_of(device);
  }
}

std::string joined(const std::string& a, const std::string& b) {
  return a.empty() || b.empty() ? a + b : a + "; " + b;
}

}  // namespace

Predictor::Predictor(std::unique_ptr<const State> state) : state_(std::move(state)) {}
Predictor::Predictor(Predictor&&) noexcept = default;
Predictor& Predictor::operator=(Predictor&&) noexcept = default;
Predictor::~Predictor() = default;

Result<Predictor> Predictor::parse(const std::string& name, std::string_view text) {
  ASSAY_TRY(auto trained, read_model_file(name, text));
  return Predictor(std::make_unique<const State>(State{std::move(trained)}));
}

Result<Predictor> Predictor::read(const std::filesystem::path& file) {
  ASSAY_TRY(const auto text, read_file(file, kLargestFile));
  return parse(file.native(), text);
}

Predictor Predictor::with(std::span<const Device> devices) const {
  Trained trained = state_->trained;
  for (const auto& device : devices) {
    const size_t known = find_device(trained.devices, device.name);
    if (known == trained.devices.size())
      trained.devices.push_back(device);
    else
      renew(trained, known, device);
  }
  add_unmeasured(trained);
  return Predictor(std::make_unique<const State>(State{std::move(trained)}));
}

const std::vector<Device>& Predictor::devices() const {
  return state_->trained.devices;
}
const std::vector<Task>& Predictor::tasks() const {
  return state_->trained.tasks;
}

std::vector<Estimate> Predictor::tell(const model::Characteristics& model,
                                      std::span<const double> loads) const {
  const Trained& trained = state_->trained;
  Answer answer(trained, loads);
  std::string other;
  if (!answer.only(model.precision))
    other = fmt::format("nothing was measured in {}; other precisions stand in", model.precision);
  const auto columns = column_values(model.counts, &model.workload);
  const size_t counts = model::kWorkloadColumns.size();
  std::string by_workload;
  std::string by_counts;
  if (trained.by_workload) {
    by_workload = joined(other, doubt_of(*trained.by_workload, columns, 0, counts));
    answer.add(*trained.by_workload, columns, by_workload);
  }
  if (!answer.complete()) {
    by_counts = joined(joined(other, "told by the counts of layers alone"),
                       doubt_of(trained.by_counts, columns, counts, column_count()));
    answer.add(trained.by_counts, columns, by_counts);
  }
  const std::string unmeasured = joined(kUnmeasured, by_workload);
  answer.add_unmeasured(&model.workload, unmeasured);
  return answer.estimates(&model.workload);
}

std::vector<Estimate> Predictor::tell(const model::Counts& counts,
                                      std::span<const double> loads) const {
  const Trained& trained = state_->trained;
  Answer answer(trained, loads);
  const auto columns = column_values(counts, nullptr);
  const auto doubt =
      doubt_of(trained.by_counts, columns, model::kWorkloadColumns.size(), column_count());
  answer.add(trained.by_counts, columns, doubt);
  const std::string unmeasured = joined(kUnmeasured, doubt);
  answer.add_unmeasured(nullptr, unmeasured);
  return answer.estimates(nullptr);
}

}  // namespace assay::predict
