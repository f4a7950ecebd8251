// SPDX-License-Identifier: Apache-2.0
#include "statistics.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>
#include <tuple>

#include <assay/predict/leave_devices_out.h>
#include <assay/predict/new_device.h>
#include <assay/predict/validate.h>

namespace assay::predict {
namespace {

constexpr size_t kLeastToTell = 5;
constexpr double kWorst = 0.5;  ///< relative errors above count as this when beliefs are compared
constexpr size_t kBest = 2;     ///< beliefs, whose mean is told
constexpr int kRounds = 8;
constexpr int kInnerRounds = 5;

/// One time that was told, in logarithms.
struct One {
  double told = 0;
  double actual = 0;
  double deviation = 0;
};

class Trial {
 public:
  Trial(const Table& table, const NewDeviceTrial& trial) : table_(table), trial_(trial) {
    groups_.insert(table.devices.begin(), table.devices.end());
  }

  NewDeviceFound run() {
    NewDeviceFound found;
    for (const auto& group : groups_) leave_out(group, found);
    return found;
  }

 private:
  using Names = std::set<std::string>;

  using Beliefs = std::vector<size_t>;
  using Togethers = std::vector<Together>;  ///< one for each belief

  void leave_out(const std::string& group, NewDeviceFound& found) {
    const Beliefs beliefs = best_beliefs(group);
    std::vector<double> sizes;
    for (const One& one : told_of_others(group, beliefs))
      sizes.push_back(std::abs(one.told - one.actual) / one.deviation);
    const double width = quantile(std::move(sizes), kHeld);
    Togethers togethers;
    for (const size_t belief : beliefs) togethers.push_back(together({group}, belief, kRounds));
    for (const One& one : told_of(group, togethers, trial_.draws)) {
      const double half = width * one.deviation;
      found.judged.push_back({std::exp(one.told), std::exp(one.actual)});
      found.intervals.push_back(
          {std::exp(one.told - half), std::exp(one.told + half), std::exp(one.actual)});
    }
  }

  /// Those under which the other groups are told best.
  Beliefs best_beliefs(const std::string& group) {
    std::vector<std::pair<double, size_t>> losses;
    for (size_t belief = 0; belief < kBeliefs.size(); ++belief)
      losses.emplace_back(loss_of(told_of_others(group, {belief})), belief);
    std::sort(losses.begin(), losses.end());
    Beliefs best;
    for (size_t i = 0; i < kBest; ++i) best.push_back(losses[i].second);
    return best;
  }
  std::vector<One> told_of_others(const std::string& group, const Beliefs& beliefs) {
    std::vector<One> all;
    for (const auto& other : groups_) {
      if (other == group) continue;
      Togethers togethers;
      for (const size_t belief : beliefs) togethers.push_back(without_both(group, other, belief));
      const auto some = told_of(other, togethers, 1);
      all.insert(all.end(), some.begin(), some.end());
    }
    return all;
  }
  static double loss_of(const std::vector<One>& all) {
    double sum = 0;
    for (const One& one : all)
      sum += std::min(std::abs(std::exp(one.told - one.actual) - 1), kWorst);
    return all.empty() ? HUGE_VAL : sum / static_cast<double>(all.size());
  }

  /// Leaving out the first and then the second is the same as the other way round.
  const Together& without_both(const std::string& a, const std::string& b, size_t belief) {
    const auto key = std::make_tuple(std::min(a, b), std::max(a, b), belief);
    const auto known = without_.find(key);
    if (known != without_.end()) return known->second;
    return without_.emplace(key, together({a, b}, belief, kInnerRounds)).first->second;
  }

  Together together(const Names& left_out, size_t belief, int rounds) const {
    KnownDevices known{table_.features, {}, Grid(0, table_.items.size())};
    for (const auto& item : table_.items) known.kinds.push_back(item.kind);
    for (size_t task = 0; task < table_.tasks.size(); ++task) {
      if (left_out.contains(table_.devices[task])) continue;
      for (const double time : table_.seconds.row(task))
        known.log_times.values.push_back(std::log(time));
      ++known.log_times.rows;
    }
    return learn_together(known, kBeliefs[belief], rounds);
  }

  std::vector<One> told_of(const std::string& group, const Togethers& togethers,
                           size_t draws) const {
    std::vector<One> all;
    for (size_t task = 0; task < table_.tasks.size(); ++task) {
      if (table_.devices[task] != group) continue;
      std::vector<size_t> measured;
      for (size_t item = 0; item < table_.items.size(); ++item)
        if (!std::isnan(table_.seconds.at(task, item))) measured.push_back(item);
      if (measured.size() < trial_.runs + kLeastToTell) continue;
      for (size_t draw = 0; draw < (trial_.runs_chosen ? 1 : draws); ++draw) {
        const auto chosen = trial_.runs_chosen
                                ? choose_runs(togethers.front(), measured, trial_.runs)
                                : drawn(measured, task, draw);
        tell_rest(task, measured, chosen, togethers, all);
      }
    }
    return all;
  }
  std::vector<size_t> drawn(std::vector<size_t> measured, size_t task, size_t draw) const {
    std::mt19937_64 random(trial_.seed + draw * 1000 + task);
    for (size_t i = measured.size(); i > 1; --i) std::swap(measured[i - 1], measured[random() % i]);
    measured.resize(trial_.runs);
    return measured;
  }
  static Told mean_told(const Togethers& togethers, std::span<const MeasuredRun> runs) {
    const auto count = static_cast<double>(togethers.size());
    Told mean;
    for (const Together& together : togethers) {
      const Told told = tell_new_device(together, runs);
      mean.log_times.resize(told.log_times.size());
      mean.deviations.resize(told.deviations.size());
      for (size_t item = 0; item < told.log_times.size(); ++item) {
        mean.log_times[item] += told.log_times[item] / count;
        mean.deviations[item] += told.deviations[item] / count;
      }
    }
    return mean;
  }
  void tell_rest(size_t task, const std::vector<size_t>& measured,
                 const std::vector<size_t>& chosen, const Togethers& togethers,
                 std::vector<One>& all) const {
    std::vector<MeasuredRun> runs;
    for (const size_t item : chosen)
      runs.push_back({item, std::log(table_.seconds.at(task, item))});
    const Told told = mean_told(togethers, runs);
    for (const size_t item : measured)
      if (std::find(chosen.begin(), chosen.end(), item) == chosen.end())
        all.push_back(
            {told.log_times[item], std::log(table_.seconds.at(task, item)), told.deviations[item]});
  }

  const Table& table_;
  const NewDeviceTrial& trial_;
  Names groups_;
  std::map<std::tuple<std::string, std::string, size_t>, Together> without_;
};

}  // namespace

NewDeviceFound leave_devices_out(const Table& table, const NewDeviceTrial& trial) {
  return Trial(table, trial).run();
}

}  // namespace assay::predict
