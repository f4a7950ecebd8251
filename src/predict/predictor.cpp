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
  explicit State(Trained all) : trained(std::move(all)), tasks_of(trained.devices.size()) {
    for (size_t task = 0; task < trained.tasks.size(); ++task)
      tasks_of[trained.facts[task].device].push_back(task);
  }

  Trained trained;
  std::vector<std::vector<size_t>> tasks_of;  ///< devices
};

namespace {

constexpr size_t kLargestFile = size_t{512} << 20U;
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
/// In logarithms, so that times and intervals stay finite.
constexpr double kMostLog = 50;
constexpr double kMostWidth = 20;
constexpr double kFarLoad = 0.2;      ///< below what was measured
constexpr double kSameNumber = 1e-6;  ///< tables of others may have some digits only

/// Tells one model's times.
class Answer {
 public:
  explicit Answer(const Trained& trained)
      : trained_(trained), idle_(trained.tasks.size(), kNone), told_(idle_.size()) {}

  /// Only tasks of this precision are wanted, unless there is none.
  bool only(const std::string& precision) {
    const auto has = [&](const Task& task) { return task.precision == precision; };
    if (!std::any_of(trained_.tasks.begin(), trained_.tasks.end(), has)) return false;
    precision_ = precision;
    return true;
  }
  void add(const Teller& teller, const std::vector<double>& columns,
           std::span<const model::Piece> pieces, const Doubt& doubt) {
    const auto logs = teller.tell(columns, pieces);
    for (size_t row = 0; row < logs.size(); ++row) {
      const size_t task = teller.tasks[row];
      if (!std::isnan(idle_[task])) continue;
      idle_[task] = logs[row];
      told_[task] = {teller.widths[row] + doubt.width, teller.widening, &doubt.words};
    }
  }
  void add_unmeasured(const model::Workload* workload, const Doubt& doubt) {
    for (const auto& one : trained_.unmeasured) {
      const auto log = one.tell(trained_, idle_, workload);
      if (!log) continue;
      idle_[one.task] = *log;
      told_[one.task] = {one.width + doubt.width, trained_.main().widening, &doubt.words};
    }
  }
  /// What the engine said when it refused the model on that device; null where it did not.
  const std::string* refusal(size_t task) const {
    for (const auto* one : refused_)
      if (one->task.engine == trained_.tasks[task].engine &&
          one->task.device == trained_.tasks[task].device)
        return &one->error;
    return nullptr;
  }
  /// A model is known again by its workload: callers may say themselves how large inputs are.
  void look_for_refusals(const std::vector<double>& columns) {
    const auto is_same = [](double a, double b) {
      return std::abs(a - b) <= kSameNumber * std::max(std::abs(a), std::abs(b));
    };
    for (const auto& one : trained_.refused)
      if (std::equal(columns.begin(), columns.begin() + model::kWorkloadColumns.size(),
                     one.numbers.begin(), is_same))
        refused_.push_back(&one);
  }
  /// Whether all measured tasks are told.
  bool complete() const {
    const auto missing =
        std::count_if(idle_.begin(), idle_.end(), [](double log) { return std::isnan(log); });
    return static_cast<size_t>(missing) <= trained_.unmeasured.size();
  }
  std::vector<Estimate> estimates(std::span<const Asked> asked,
                                  const model::Workload* workload) const {
    std::vector<size_t> places;
    std::vector<size_t> tasks;
    std::vector<Surroundings> around;
    for (size_t i = 0; i < asked.size(); ++i) {
      const size_t task = asked[i].task;
      if (std::isnan(idle_[task]) || !wanted(task)) continue;
      const TaskFacts& facts = trained_.facts[task];
      const double load = std::clamp(asked[i].load, 0.0, 1.0);
      places.push_back(i);
      tasks.push_back(task);
      around.push_back({load, facts.threads, idle_[task], facts.place, workload});
    }
    const auto slowdowns = trained_.slowdown.tell(tasks, around);
    std::vector<Estimate> all;
    all.reserve(tasks.size());
    for (size_t i = 0; i < tasks.size(); ++i) {
      const One& told = told_[tasks[i]];
      const double log = std::clamp(idle_[tasks[i]] + slowdowns[i], -kMostLog, kMostLog);
      const double width = std::min(told.width * (1 + told.widening * around[i].load), kMostWidth);
      const double seconds = std::exp(log);
      const TaskFacts& facts = trained_.facts[tasks[i]];
      all.push_back({places[i], tasks[i], seconds, std::exp(log - width), std::exp(log + width),
                     facts.watts * seconds, *told.doubt});
      if (around[i].load + kFarLoad < facts.least_load)
        all.back().doubt += fmt::format("{}nothing was measured there at less than {:.0f} % load",
                                        told.doubt->empty() ? "" : "; ", 100 * facts.least_load);
    }
    return all;
  }

 private:
  struct One {
    double width = 0;     ///< half of its interval when idle
    double widening = 0;  ///< under full load
    const std::string* doubt = nullptr;
  };
  bool wanted(size_t task) const {
    return (precision_.empty() || trained_.tasks[task].precision == precision_) &&
           refusal(task) == nullptr;
  }

  const Trained& trained_;
  std::string precision_;
  std::vector<const Refusal*> refused_;  ///< of this model
  std::vector<double> idle_;             ///< logarithms of seconds on idle devices, of each task
  std::vector<One> told_;
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

Doubt joined(const std::string& a, const Doubt& b) {
  return {a.empty() || b.words.empty() ? a + b.words : a + "; " + b.words, b.width};
}

}  // namespace

Predictor::Predictor(std::unique_ptr<const State> state) : state_(std::move(state)) {}
Predictor::Predictor(Predictor&&) noexcept = default;
Predictor& Predictor::operator=(Predictor&&) noexcept = default;
Predictor::~Predictor() = default;

Result<Predictor> Predictor::parse(const std::string& name, std::string_view text) {
  ASSAY_TRY(auto trained, read_model_file(name, text));
  return Predictor(std::make_unique<const State>(std::move(trained)));
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
  return Predictor(std::make_unique<const State>(std::move(trained)));
}

const std::vector<Device>& Predictor::devices() const {
  return state_->trained.devices;
}
const std::vector<Task>& Predictor::tasks() const {
  return state_->trained.tasks;
}
std::span<const size_t> Predictor::tasks_of(size_t device) const {
  return state_->tasks_of[device];
}

std::vector<Estimate> Predictor::tell(const model::Characteristics& model,
                                      std::span<const Asked> asked) const {
  const Trained& trained = state_->trained;
  Answer answer(trained);
  std::string other;
  if (!answer.only(model.precision))
    other = fmt::format("nothing was measured in {}; other precisions stand in", model.precision);
  const auto columns = column_values(model.counts, &model.workload);
  answer.look_for_refusals(columns);
  const size_t counts = model::kWorkloadColumns.size();
  Doubt by_workload;
  Doubt by_counts;
  if (trained.by_workload) {
    by_workload = joined(other, doubt_of(*trained.by_workload, columns, 0, counts));
    by_workload.width = 0;
    answer.add(*trained.by_workload, columns, model.pieces, by_workload);
  }
  if (!answer.complete()) {
    by_counts = joined(other, joined("told by the counts of layers alone",
                                     doubt_of(trained.by_counts, columns, counts, column_count())));
    answer.add(trained.by_counts, columns, {}, by_counts);
  }
  const Doubt unmeasured = joined(kUnmeasured, by_workload);
  answer.add_unmeasured(&model.workload, unmeasured);
  return answer.estimates(asked, &model.workload);
}

std::string Predictor::refusal(const model::Characteristics& model, size_t task) const {
  Answer answer(state_->trained);
  answer.look_for_refusals(column_values(model.counts, &model.workload));
  const auto* error = answer.refusal(task);
  return error == nullptr ? "" : *error;
}

std::vector<Estimate> Predictor::tell(const model::Counts& counts,
                                      std::span<const Asked> asked) const {
  const Trained& trained = state_->trained;
  Answer answer(trained);
  const auto columns = column_values(counts, nullptr);
  const auto doubt =
      doubt_of(trained.by_counts, columns, model::kWorkloadColumns.size(), column_count());
  answer.add(trained.by_counts, columns, {}, doubt);
  const Doubt unmeasured = joined(kUnmeasured, doubt);
  answer.add_unmeasured(nullptr, unmeasured);
  return answer.estimates(asked, nullptr);
}

}  // namespace assay::predict
