// SPDX-License-Identifier: Apache-2.0
#include "slowdown.h"

#include "booster.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace assay::predict {
namespace {

constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
constexpr double kLeastShare = 0.5;  ///< of a core, which a fair scheduler gives to one of two
constexpr double kBearable = 0.05;   ///< differences of logarithms with full say
/// How much say the belief has that a task is as all others: as a run with a slowdown of e.
constexpr double kBelief = 1;
constexpr double kNear = 0.1;     ///< loads that are as good as the same
constexpr size_t kStandIns = 12;  ///< runs of a task that stand in for what was not measured
constexpr int kRounds = 2;
constexpr double kLeastGain = 1e-30;

struct Cores {
  double all = 1;
  double threads = 1;
  double busy = 0;
};
Cores cores_of(const Surroundings& around) {
  Cores cores;
  cores.all = around.place.cores;
  cores.threads = around.threads > 0 ? std::min(around.threads, cores.all) : cores.all;
  cores.busy = std::clamp(around.load, 0.0, 1.0) * cores.all;
  return cores;
}
/// How much of its threads' cores other work wants too.
double contention_of(const Cores& cores) {
  return std::clamp((cores.busy + cores.threads - cores.all) / cores.threads, 0.0, 1.0);
}

float ratio(const Device& device, const char* one, const char* other) {
  const auto a = device.figures.find(one);
  const auto b = device.figures.find(other);
  if (a == device.figures.end() || b == device.figures.end()) return kNone;
  return static_cast<float>(a->second / b->second);
}

Grid grid_of(const SlowdownLesson& lesson) {
  const size_t count = lesson.around.size();
  Grid grid(2 * count, kSlowdownColumns.size());
  for (size_t row = 0; row < count; ++row) {
    Surroundings around = lesson.around[row];
    const auto known = slowdown_row(around);
    around.workload = nullptr;
    const auto unknown = slowdown_row(around);
    const auto at = grid.values.begin() + static_cast<ptrdiff_t>(row * grid.columns);
    std::copy(known.begin(), known.end(), at);
    std::copy(unknown.begin(), unknown.end(), at + static_cast<ptrdiff_t>(count * grid.columns));
  }
  return grid;
}

/// Each run twice: with its workload and, for those who do not know it, without.
Result<Booster> boost(const SlowdownLesson& lesson, uint64_t seed) {
  const size_t count = lesson.logs.size();
  const Gradient gradient = [&](auto told, auto first, auto second) {
    for (size_t i = 0; i < told.size(); ++i) {
      const double off = told[i] - lesson.logs[i % count];
      const double root = std::sqrt(1 + off * off / (kBearable * kBearable));
      first[i] = static_cast<float>(lesson.say[i % count] * off / root);
      second[i] = static_cast<float>(lesson.say[i % count] / root);
    }
  };
  BoostSettings settings{.rounds = 150, .depth = 4, .rate = 0.08, .least_weight = 4};
  settings.bins = 64;
  settings.seed = seed;
  settings.directions = {1, 1, 1};
  settings.directions.resize(kSlowdownColumns.size());
  return Booster::train(grid_of(lesson), gradient, settings);
}

bool has_near(const SlowdownLesson& lesson, size_t task, double load) {
  for (size_t row = 0; row < lesson.task.size(); ++row)
    if (lesson.task[row] == task && std::abs(lesson.around[row].load - load) <= kNear) return true;
  return false;
}

/// Where a task was not measured under some load, a fair scheduler stands in.
SlowdownLesson with_belief(const SlowdownLesson& lesson) {
  SlowdownLesson all = lesson;
  for (size_t task = 0; task < lesson.tasks; ++task) {
    std::vector<size_t> own;
    for (size_t row = 0; row < lesson.task.size(); ++row)
      if (lesson.task[row] == task) own.push_back(row);
    const size_t step = own.size() / kStandIns + 1;
    for (double load = 0; load <= 1; load += 2 * kNear) {
      if (has_near(lesson, task, load)) continue;
      for (size_t i = 0; i < own.size(); i += step) {
        Surroundings around = lesson.around[own[i]];
        around.load = load;
        all.task.push_back(task);
        all.around.push_back(around);
        all.logs.push_back(fair_slowdown(around));
        all.say.push_back(1);
      }
    }
  }
  return all;
}

std::vector<double> factors_of(const SlowdownLesson& lesson, const Slowdown& slowdown) {
  std::vector<double> both(lesson.tasks, kBelief);
  std::vector<double> squares(lesson.tasks, kBelief);
  for (size_t row = 0; row < lesson.logs.size(); ++row) {
    const size_t task = lesson.task[row];
    const double told = slowdown.tell(task, lesson.around[row]);
    both[task] += lesson.say[row] * told * lesson.logs[row];
    squares[task] += lesson.say[row] * told * told;
  }
  for (size_t task = 0; task < lesson.tasks; ++task)
    both[task] = std::clamp(both[task] / squares[task], 0.2, 5.0);
  return both;
}

Result<std::vector<double>> shares_of(const Booster& booster) {
  ASSAY_TRY(auto importance, booster.importance());
  double sum = 0;
  for (const double one : importance) sum += one;
  for (double& one : importance) one /= std::max(sum, kLeastGain);
  return importance;
}

}  // namespace

Place place_of(const Device& device) {
  return {device.cores > 0 ? device.cores : 1, ratio(device, "bandwidth", "flops_float32"),
          ratio(device, "bandwidth", "bandwidth_one_core"),
          ratio(device, "latency_contended_seconds", "latency_seconds")};
}

SlowdownRow slowdown_row(const Surroundings& around) {
  const Cores cores = cores_of(around);
  SlowdownRow row;
  row.fill(kNone);
  row[0] = static_cast<float>(std::clamp(around.load, 0.0, 1.0));
  row[1] = static_cast<float>(cores.busy);
  row[2] = static_cast<float>(contention_of(cores));
  row[3] = static_cast<float>(cores.all);
  row[4] = static_cast<float>(cores.threads);
  row[5] = static_cast<float>(around.log_idle);
  if (around.workload != nullptr) {
    const double macs = around.workload->macs();
    const auto& w = *around.workload;
    const double bytes = w.bytes_conv + w.bytes_depthwise + w.bytes_matmul + w.bytes_other;
    row[6] = static_cast<float>(std::log1p(macs));
    row[7] = static_cast<float>(bytes / (macs + 1));
    row[8] = static_cast<float>(std::log1p(w.operators));
  }
  row[9] = around.place.bytes_per_flop;
  row[10] = around.place.bandwidth_headroom;
  row[11] = around.place.latency_contended;
  return row;
}

double fair_slowdown(const Surroundings& around) {
  return -std::log(std::max(1 - contention_of(cores_of(around)), kLeastShare));
}

double Slowdown::tell(size_t task, const Surroundings& around) const {
  const double all = std::max(0.0F, trees.tell(slowdown_row(around)));
  return task < factors.size() ? factors[task] * all : all;
}

std::vector<double> Slowdown::tell(std::span<const size_t> tasks,
                                   std::span<const Surroundings> around) const {
  std::vector<float> rows;
  rows.reserve(tasks.size() * kSlowdownColumns.size());
  for (const auto& one : around) {
    const auto row = slowdown_row(one);
    rows.insert(rows.end(), row.begin(), row.end());
  }
  std::vector<float> told(tasks.size());
  trees.tell(rows, told);
  std::vector<double> logs;
  for (size_t i = 0; i < tasks.size(); ++i)
    logs.push_back(factors[tasks[i]] * std::max(0.0F, told[i]));
  return logs;
}

Result<LearnedSlowdown> learn_slowdown(const SlowdownLesson& lesson, uint64_t seed) {
  // What tasks have in common and what each has for itself, in turns.
  SlowdownLesson common = lesson;
  LearnedSlowdown learned;
  for (int round = 0; round < kRounds; ++round) {
    ASSAY_TRY(const auto booster, boost(with_belief(common), seed));
    ASSAY_TRY(const auto text, booster.text());
    auto document = nlohmann::json::parse(text);
    document["learner"]["feature_names"] = kSlowdownColumns;
    document["learner"]["feature_types"] =
        std::vector<std::string>(kSlowdownColumns.size(), "float");
    ASSAY_TRY(learned.slowdown, read_slowdown(document, {}));
    learned.slowdown.factors = factors_of(lesson, learned.slowdown);
    for (size_t row = 0; row < lesson.logs.size(); ++row)
      common.logs[row] = lesson.logs[row] / learned.slowdown.factors[lesson.task[row]];
    learned.booster = document.dump();
    ASSAY_TRY(learned.importance, shares_of(booster));
  }
  return learned;
}

Result<Slowdown> read_slowdown(const nlohmann::json& document, std::vector<double> factors) {
  ASSAY_TRY(auto trees, Trees::parse(document));
  if (trees.columns() != kSlowdownColumns.size())
    return bad_input("its trees ask for other numbers than are known of a load");
  return Slowdown{std::move(trees), std::move(factors)};
}

}  // namespace assay::predict
