// SPDX-License-Identifier: Apache-2.0
#include "trial_worlds.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>

#include <assay/base/wording.h>
#include <assay/cluster/trial_planner.h>

namespace assay::cluster {
namespace {

/// Where several trials promise as much, what is likely to be the best is tried.
constexpr double kBestBonus = 0.02;
constexpr size_t kThoughtThrough = 6;
/// A choice is tried again so often when it was lost, and when it was measured and the noise of one
/// trial leaves the answer open.
constexpr size_t kMostLost = 2;
constexpr size_t kMostMeasured = 3;

std::vector<Speed> speeds_of(const std::vector<Tried>& trials) {
  std::vector<Speed> speeds;
  for (const auto& trial : trials)
    if (trial.end == TrialEnd::measured && trial.throughput > 0)
      speeds.push_back({trial.choice, trial.throughput, trial.error});
  return speeds;
}

bool may_be_tried(size_t choice, const std::vector<Tried>& trials) {
  size_t lost = 0, measured = 0;
  for (const auto& trial : trials) {
    if (trial.choice != choice) continue;
    if (trial.end == TrialEnd::failed || trial.end == TrialEnd::no_room) return false;
    ++(trial.end == TrialEnd::lost ? lost : measured);
  }
  return lost < kMostLost && measured < kMostMeasured;
}

class Planner {
 public:
  Planner(const std::vector<Choice>& choices, const std::vector<Tried>& trials,
          const Question& question, const PlanLimits& limits)
      : trials_(trials),
        question_(question),
        limits_(limits),
        belief_(choices, speeds_of(trials), question.prices),
        workable_(choices, trials),
        works_(workable_.chances()),
        worlds_(belief_, question, workable_) {}

  Plan plan() {
    Plan plan;
    plan.standings = standings();
    plan.answer = answer();
    plan.fastest = best_by(Question::Want::fastest);
    plan.cheapest = best_by(Question::Want::cheapest);
    if (plan.answer)
      plan.clear =
          plan.standings[*plan.answer].best >= limits_.sure && plan.standings[*plan.answer].tried;
    const auto done = static_cast<size_t>(
        std::count_if(trials_.begin(), trials_.end(), [](const Tried& one) { return !one.known; }));
    if (limits_.every || (!plan.clear && done < most_trials()))
      plan.next = next(most_trials() - std::min(most_trials(), done));
    return plan;
  }

 private:
  size_t most_trials() const {
    return limits_.most_trials > 0 ? limits_.most_trials : half_of(belief_.choices().size());
  }

  std::vector<Standing> standings() const {
    std::vector<Standing> all;
    for (size_t i = 0; i < belief_.choices().size(); ++i) {
      Standing one;
      one.throughput = belief_.throughput(i);
      one.works = works_[i];
      one.within = worlds_.within()[i];
      one.best = worlds_.chances()[i];
      for (const auto& trial : trials_)
        one.tried |= trial.choice == i && trial.end == TrialEnd::measured;
      const double price = price_of(question_.prices, belief_.choices()[i]);
      if (price > 0) one.unit_cost = price / 3600 / one.throughput.value;
      if (question_.work > 0) one.seconds = question_.work / one.throughput.value;
      if (question_.work > 0 && price > 0) one.cost = question_.work * *one.unit_cost;
      all.push_back(one);
    }
    return all;
  }

  /// The one that is most likely the best; nothing when it is more likely that none will do.
  std::optional<size_t> answer() const {
    const auto& chances = worlds_.chances();
    const auto best = std::max_element(chances.begin(), chances.end());
    if (*best <= worlds_.none()) return std::nullopt;
    return static_cast<size_t>(best - chances.begin());
  }

  std::optional<size_t> best_by(Question::Want want) const {
    std::optional<size_t> best;
    double most = -1e300;
    for (size_t i = 0; i < belief_.choices().size(); ++i) {
      const double price = price_of(question_.prices, belief_.choices()[i]);
      if (works_[i] < 0.5 || (want == Question::Want::cheapest && !(price > 0))) continue;
      const double worth = std::log(belief_.throughput(i).value) -
                           (want == Question::Want::cheapest ? std::log(price) : 0);
      if (worth <= most) continue;
      most = worth;
      best = i;
    }
    return best;
  }

  /// With several trials left, the most promising are thought through once more, each with a second
  /// trial after it: two may tell together what neither does alone.
  std::optional<size_t> next(size_t left) const {
    std::vector<std::pair<double, size_t>> all;
    for (size_t i = 0; i < belief_.choices().size(); ++i) {
      const bool again = works_[i] == 1;  // it was measured before
      if (may_be_tried(i, trials_) && works_[i] > 0 && !(limits_.every && again))
        all.emplace_back(worlds_.promise(i) + kBestBonus * worlds_.chances()[i], i);
    }
    if (all.empty()) return std::nullopt;
    std::sort(all.begin(), all.end(), std::greater<>());
    if (left < 2 || limits_.every) return all.front().second;
    all.resize(std::min(all.size(), kThoughtThrough));
    std::vector<size_t> then;
    for (const auto& [value, choice] : all) then.push_back(choice);
    for (auto& [value, choice] : all)
      value = worlds_.promise(choice, then) + kBestBonus * worlds_.chances()[choice];
    return std::max_element(all.begin(), all.end())->second;
  }

  const std::vector<Tried>& trials_;
  const Question& question_;
  const PlanLimits& limits_;
  const ScalingBelief belief_;
  const Workable workable_;
  const std::vector<double>& works_;
  const Worlds worlds_;
};

}  // namespace

size_t half_of(size_t choices) {
  return std::min(choices, std::max<size_t>(2, choices / 2));
}

Result<void> check_question(const Question& question, const std::vector<Choice>& choices) {
  if ((question.budget > 0 || question.deadline > 0) && !(question.work > 0))
    return bad_input("a budget or a deadline needs --work: how many units are to be done");
  if (question.want != Question::Want::cheapest && !(question.budget > 0)) return {};
  for (const auto& choice : choices)
    if (!(price_of(question.prices, choice) > 0))
      return bad_input(
          fmt::format("what is cheapest or within a budget needs the price of {}: "
                      "--price '{}=0.35'",
                      in_quotes(choice.kind), choice.kind));
  return {};
}

Plan plan_trials(const std::vector<Choice>& choices, const std::vector<Tried>& trials,
                 const Question& question, const PlanLimits& limits) {
  return Planner(choices, trials, question, limits).plan();
}

}  // namespace assay::cluster
