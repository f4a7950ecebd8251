// SPDX-License-Identifier: Apache-2.0
#include "model_file.h"
#include "teller.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include <assay/base/files.h>
#include <assay/predict/predictor.h>

namespace assay::predict {

struct Predictor::State {
  Trained trained;
};

namespace {

constexpr size_t kLargestFile = size_t{512} << 20U;
constexpr double kMostWidth = 20;  ///< in logarithms, so that intervals stay finite

/// Tells one model's times on all tasks.
class Answer {
 public:
  Answer(const Trained& trained, std::span<const double> loads) : trained_(trained), loads_(loads) {
    told_.resize(trained.tasks.size());
  }

  void add(const Teller& teller, const std::vector<double>& columns,
           const model::Workload* workload, const std::string& doubt) {
    const auto logs = teller.tell(columns);
    for (size_t row = 0; row < logs.size(); ++row) {
      const size_t task = teller.tasks[row];
      if (!wanted(task) || told_[task]) continue;
      told_[task] = true;
      const double load = task < loads_.size() ? std::clamp(loads_[task], 0.0, 1.0) : 0;
      const Surroundings around{load, trained_.facts[task].threads, logs[row],
                                trained_.device_of(task), workload};
      const double log = logs[row] + trained_.slowdown.tell(task, around);
      const double width = std::min(teller.width(row, load), kMostWidth);
      estimates_.push_back(
          {task, std::exp(log), std::exp(log - width), std::exp(log + width), doubt});
    }
  }
  /// Only tasks of this precision are wanted, unless there is none.
  bool only(const std::string& precision) {
    const auto has = [&](const Task& task) { return task.precision == precision; };
    if (!std::any_of(trained_.tasks.begin(), trained_.tasks.end(), has)) return false;
    precision_ = precision;
    return true;
  }
  std::vector<Estimate> take() {
    std::sort(estimates_.begin(), estimates_.end(),
              [](const Estimate& a, const Estimate& b) { return a.task < b.task; });
    return std::move(estimates_);
  }

 private:
  bool wanted(size_t task) const {
    return precision_.empty() || trained_.tasks[task].precision == precision_;
  }

  const Trained& trained_;
  std::span<const double> loads_;
  std::string precision_;
  std::vector<bool> told_;
  std::vector<Estimate> estimates_;
};

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
  const size_t workload_columns = model::kWorkloadColumns.size();
  if (trained.by_workload) {
    const auto doubt = doubt_of(*trained.by_workload, columns, 0, workload_columns);
    answer.add(*trained.by_workload, columns, &model.workload, joined(other, doubt));
  }
  const auto doubt = doubt_of(trained.by_counts, columns, workload_columns, column_count());
  answer.add(trained.by_counts, columns, &model.workload,
             joined(joined(other, "told by counts of layers alone"), doubt));
  return answer.take();
}

std::vector<Estimate> Predictor::tell(const model::Counts& counts,
                                      std::span<const double> loads) const {
  const Trained& trained = state_->trained;
  Answer answer(trained, loads);
  const auto columns = column_values(counts, nullptr);
  const auto doubt =
      doubt_of(trained.by_counts, columns, model::kWorkloadColumns.size(), column_count());
  answer.add(trained.by_counts, columns, nullptr, doubt);
  return answer.take();
}

}  // namespace assay::predict
