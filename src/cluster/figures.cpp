// SPDX-License-Identifier: Apache-2.0
#include "render.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace assay::cluster {
namespace {

constexpr double kMaterialPoints = 5;
constexpr double kMaterialShare = 0.1;
constexpr double kNeverPublished = 10;
constexpr double kOtherFacts = 2;
constexpr double kOtherNumbers = 3;

// Below these nothing is worth telling.
constexpr double kLittleCores = 0.05, kLittleMemory = 50e6, kLittleTraffic = 1e6;
constexpr double kLittleGpuMemory = 1e9, kLittleTime = 60;

class Gatherer {
 public:
  /// `usual` is how far it swings all the time: that is not material.
  void percent(double value, double usual = 0) { add(value, std::max(kMaterialPoints, usual)); }
  void amount(double value, double little, double usual = 0) {
    add(value, std::max(little, usual), kMaterialShare);
  }
  void fact(size_t value) { figures_.facts = figures_.facts * 1099511628211U + value + 1; }
  void fact(const std::string& text) { fact(std::hash<std::string>()(text)); }
  Figures finish() && { return std::move(figures_); }

 private:
  void add(double value, double tolerance, double share = 0) {
    figures_.numbers.push_back({.value = static_cast<float>(value),
                                .tolerance = static_cast<float>(tolerance),
                                .share = static_cast<float>(share)});
  }
  Figures figures_;
};

/// From a low value to a high one of those that come all the time, and a bit more; 0 while that is
/// not known.
double swing(const Usage& usage) {
  constexpr uint64_t kFewest = 20;
  if (usage.count() < kFewest) return 0;
  return 1.1 * (usage.percentile(0.9) - usage.percentile(0.1));
}

void add_uses(Gatherer& gatherer, const Uses& uses) {
  const auto add = [&](const Usage& usage, double little) {
    gatherer.amount(usage.last(), little, swing(usage));
    gatherer.amount(usage.max(), little);
  };
  add(uses.cores, kLittleCores);
  add(uses.memory, kLittleMemory);
  add(uses.network, kLittleTraffic);
  add(uses.disk, kLittleTraffic);
}

void add_outlook(Gatherer& gatherer, const std::optional<analysis::Outlook>& outlook) {
  gatherer.fact(outlook.has_value());
  if (outlook) gatherer.amount(outlook->seconds, kLittleTime);
}

void add_findings(Gatherer& gatherer, const Findings& found) {
  gatherer.fact(found.pattern ? static_cast<size_t>(found.pattern->use) : 9);
  gatherer.fact(found.kind);
  add_outlook(gatherer, found.memory_full);
  add_outlook(gatherer, found.finish);
}

void add_gpu(Gatherer& gatherer, const GpuState& gpu) {
  const auto& pattern = gpu.pattern;
  gatherer.fact(pattern ? static_cast<size_t>(pattern->use) : 9);
  gatherer.fact(pattern && pattern->period());
  gatherer.amount(pattern ? pattern->period().value_or(0) : 0, 1);
  gatherer.percent(pattern && pattern->hour ? pattern->hour->mean : 0, swing(gpu.utilization) / 2);
  gatherer.fact(gpu.now.processes.size());
  gatherer.amount(gpu.now.memory_used.value_or(0), kLittleGpuMemory);
  gatherer.percent(gpu.memory_share.max());
  gatherer.percent(gpu.utilization.max());
}

}  // namespace

Figures figures_of(const NodeState& node) {
  Gatherer gatherer;
  add_uses(gatherer, node.uses);
  gatherer.fact(static_cast<size_t>(node.gpu_count));
  const auto& pattern = node.pattern;
  gatherer.fact(pattern ? static_cast<size_t>(pattern->use) : 9);
  gatherer.amount(pattern && pattern->hour ? pattern->hour->mean : 0, kLittleCores,
                  swing(node.uses.cores) / 2);
  for (const auto& [index, gpu] : node.gpus) {
    gatherer.fact(gpu.now.model);
    add_gpu(gatherer, gpu);
  }
  return std::move(gatherer).finish();
}

Figures figures_of(const PodState& pod) {
  Gatherer gatherer;
  add_uses(gatherer, pod.uses);
  for (const auto& gpu : pod.gpus) {
    gatherer.fact(gpu_name(gpu.node, gpu.index));
    gatherer.fact(gpu.now);
    gatherer.percent(gpu.utilization.last(), swing(gpu.utilization));
    gatherer.percent(gpu.utilization.max());
    gatherer.percent(gpu.memory_share.max());
  }
  add_findings(gatherer, pod.findings);
  return std::move(gatherer).finish();
}

Figures figures_of(const JobState& job) {
  Gatherer gatherer;
  add_uses(gatherer, job.uses);
  gatherer.percent(job.gpu_utilization.mean());
  gatherer.amount(job.gpus.max(), 0.5);
  for (const auto& [name, most] : job.workers) {
    gatherer.fact(name);
    gatherer.amount(most.cores.value_or(0), kLittleCores);
    gatherer.amount(most.memory.value_or(0), kLittleMemory);
    for (const auto& [gpu, values] : most.gpus) gatherer.percent(values.first);
  }
  add_findings(gatherer, job.findings);
  return std::move(gatherer).finish();
}

double change(const Published& before, const Figures& now) {
  if (!before.at) return kNeverPublished;
  if (before.figures.size() != now.numbers.size()) return kOtherNumbers;
  double most = before.facts == now.facts ? 0 : kOtherFacts;
  for (size_t i = 0; i < now.numbers.size(); ++i) {
    const auto& [value, tolerance, share] = now.numbers[i];
    const auto was = before.figures[i];
    const auto material = std::max(tolerance, share * std::max(std::abs(value), std::abs(was)));
    most = std::max(most, static_cast<double>(std::abs(value - was) / material));
  }
  return most;
}

void remember(Published& published, const Figures& written, Timestamp now) {
  published.figures.clear();
  for (const auto& figure : written.numbers) published.figures.push_back(figure.value);
  published.figures.shrink_to_fit();
  published.facts = written.facts;
  published.at = now;
  published.due.reset();
  published.score = 0;
}

}  // namespace assay::cluster
