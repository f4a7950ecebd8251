// SPDX-License-Identifier: Apache-2.0
#include "unmeasured.h"

#include "roofline.h"
#include "statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include <assay/predict/validate.h>

namespace assay::predict {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
/// How soon a device that is not like the asked one loses its say, as a difference of logarithms.
constexpr double kNear = 0.5;
constexpr size_t kMostUsual = 24;

double log_roofline(const Trained& trained, size_t task, const model::Workload& workload) {
  const auto seconds = roofline_seconds(trained.device_of(task), trained.tasks[task],
                                        trained.facts[task].threads, workload);
  return seconds ? std::log(*seconds) : kNone;
}

/// How two tasks compare for a usual model.
double usual_difference(const Trained& trained, size_t task, size_t other) {
  std::vector<double> differences;
  for (const auto& workload : trained.usual) {
    const double difference =
        log_roofline(trained, task, workload) - log_roofline(trained, other, workload);
    if (!std::isnan(difference)) differences.push_back(difference);
  }
  return differences.empty() ? kNone : median(std::move(differences));
}

/// Tasks of other devices with the same engine and precision, as far as both are calibrated.
std::vector<Unmeasured::Kin> kin_of(const Trained& trained, size_t task, size_t measured) {
  std::vector<Unmeasured::Kin> kin;
  for (size_t other = 0; other < measured; ++other) {
    const Task& a = trained.tasks[task];
    const Task& b = trained.tasks[other];
    if (a.device == b.device || a.engine != b.engine || a.precision != b.precision) continue;
    const double usual = usual_difference(trained, task, other);
    if (!std::isnan(usual)) kin.push_back({other, usual});
  }
  return kin;
}

/// The share of errors within what the other devices' errors call for.
double held_by_others(const std::vector<std::vector<double>>& sizes) {
  double held = 0;
  double count = 0;
  for (size_t device = 0; device < sizes.size(); ++device) {
    double width = 0;
    for (size_t other = 0; other < sizes.size(); ++other)
      if (other != device) width = std::max(width, quantile(sizes[other], kHeld));
    for (const double size : sizes[device]) held += size <= width ? 1 : 0;
    count += static_cast<double>(sizes[device].size());
  }
  return held / count;
}

}  // namespace

std::optional<double> Unmeasured::tell(const Trained& trained, std::span<const double> logs,
                                       const model::Workload* workload) const {
  double sum = 0;
  double say = 0;
  for (const auto& one : kin) {
    if (std::isnan(logs[one.task])) continue;
    const double difference = workload == nullptr ? one.usual
                                                  : log_roofline(trained, task, *workload) -
                                                        log_roofline(trained, one.task, *workload);
    const double own_say = 1 / (kNear * kNear + one.usual * one.usual);
    sum += own_say * (logs[one.task] + difference);
    say += own_say;
  }
  if (!(say > 0) || !std::isfinite(sum)) return std::nullopt;
  return sum / say;
}

std::vector<model::Workload> usual_workloads(const std::vector<RunModel>& models) {
  std::vector<model::Workload> all;
  for (const auto& model : models)
    if (model.workload) all.push_back(*model.workload);
  const size_t step = all.size() / kMostUsual + 1;
  std::vector<model::Workload> some;
  for (size_t i = 0; i < all.size(); i += step) some.push_back(all[i]);
  return some;
}

void add_unmeasured(Trained& trained) {
  const size_t measured = trained.tasks.size() - trained.unmeasured.size();
  std::set<std::string> known;
  std::set<std::pair<std::string, std::string>> ways;
  for (const auto& task : trained.tasks) {
    known.insert(task.device);
    // What is known of a GPU does not scale with what a device's cores do.
    if (!task.engine.ends_with("-gpu")) ways.emplace(task.engine, task.precision);
  }
  for (size_t device = 0; device < trained.devices.size(); ++device) {
    const std::string& name = trained.devices[device].name;
    if (known.contains(name)) continue;
    for (const auto& [engine, precision] : ways) {
      const size_t number = trained.tasks.size();
      trained.tasks.push_back({name, engine, precision});
      trained.facts.push_back({0, device, place_of(trained.devices[device]), 0});
      auto kin = kin_of(trained, number, measured);
      if (kin.empty()) {
        trained.tasks.pop_back();
        trained.facts.pop_back();
      } else {
        trained.slowdown.factors.push_back(1);
        trained.unmeasured.push_back({number, std::move(kin), trained.unmeasured_width});
      }
    }
  }
}

std::optional<UnmeasuredTrial> try_unmeasured(const Trained& trained,
                                              const std::vector<RunModel>& models, const Grid& idle,
                                              double told_width) {
  std::vector<Judged> judged;
  std::map<std::string, std::vector<double>> by_device;  // sizes of errors
  for (size_t task = 0; task < idle.rows; ++task) {
    const Unmeasured left_out{task, kin_of(trained, task, idle.rows), 0};
    if (left_out.kin.empty()) continue;
    auto& own = by_device[trained.tasks[task].device];
    for (size_t model = 0; model < models.size(); ++model) {
      if (!models[model].workload || std::isnan(idle.at(task, model))) continue;
      std::vector<double> logs(idle.rows);
      for (size_t other = 0; other < idle.rows; ++other) logs[other] = idle.at(other, model);
      const auto told = left_out.tell(trained, logs, &*models[model].workload);
      if (!told) continue;
      judged.push_back({std::exp(*told), std::exp(idle.at(task, model))});
      own.push_back(std::abs(*told - idle.at(task, model)));
    }
  }
  if (judged.empty()) return std::nullopt;
  std::vector<std::vector<double>> sizes;
  for (auto& [device, own] : by_device) sizes.push_back(std::move(own));
  // Errors of one device have much in common: the interval is wide enough for each of them.
  UnmeasuredTrial found{{"by calibration alone", accuracy(judged), held_by_others(sizes)}, 0};
  for (const auto& own : sizes) found.width = std::max(found.width, quantile(own, kHeld));
  // Here the kin's times were measured; of a model that nobody ran they will be told.
  found.width = std::hypot(found.width, told_width);
  return found;
}

}  // namespace assay::predict
