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

using Want = Question::Want;

/// Where several trials promise as much, what is likely to be the best is tried, if it was not.
constexpr double kBestBonus = 0.02;
constexpr size_t kThoughtThrough = 6;
/// A choice is tried so often when it was lost or found no room, and when it was measured and the
/// noise of one trial leaves the answer open.
constexpr size_t kMostLost = 2;
constexpr size_t kMostMeasured = 3;
/// How far what was measured may be from what is expected of it, as a logarithm, and in deviations.
constexpr double kMisfit = 0.07;
constexpr double kSurelyOff = 2.5;
/// Of a trial that does not say how exact it is.
constexpr double kUsualError = 0.025;
/// Chances that differ by less are the same.
constexpr double kSameChance = 0.02;
/// How much faster fewer may be than more: this power of how many times fewer they are, or so many
/// times, whichever is more; and in how much of what was seen in another kind, as they scale alike.
constexpr double kSteepestFall = 1.2;
constexpr double kDeepestCliff = 6;
constexpr double kUnlike = 2;

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
    ++(trial.end == TrialEnd::measured ? measured : lost);
  }
  return lost < kMostLost && measured < kMostMeasured;
}

/// The mean of its trials, by how exact they are; no more exact than they agree.
std::optional<Estimate> measured_of(size_t choice, const std::vector<Tried>& trials) {
  std::vector<double> speeds;
  double sum = 0, weights = 0;
  for (const auto& trial : trials) {
    if (trial.choice != choice || trial.end != TrialEnd::measured) continue;
    const double weight = std::pow(trial.error > 0 ? trial.error : kUsualError, -2);
    speeds.push_back(trial.throughput);
    sum += weight * trial.throughput;
    weights += weight;
  }
  if (speeds.empty()) return std::nullopt;
  const double mean = sum / weights;
  double squares = 0;
  for (const double speed : speeds) squares += std::pow(speed / mean - 1, 2);
  const double count = static_cast<double>(speeds.size());
  const double spread = count > 1 ? std::sqrt(squares / (count - 1) / count) : 0;
  return Estimate{mean, std::max(1 / std::sqrt(weights), spread)};
}

bool fits(const Standing& standing) {
  const double off = std::abs(std::log(standing.measured->value / standing.expected.value));
  const double doubt = std::hypot(standing.measured->sd, standing.expected.sd);
  return off <= std::max(kMisfit, kSurelyOff * doubt);
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
    plan.answer = answer(plan.standings);
    const bool bounded = question_.budget > 0 || question_.deadline > 0;
    for (const Want want : {Want::fastest, Want::cheapest})
      (want == Want::fastest ? plan.fastest : plan.cheapest) =
          !bounded && want == question_.want ? plan.answer : best_by(want, plan.standings);
    if (plan.answer) add_doubts(plan);
    plan.clear = is_clear(plan);
    const auto done = static_cast<size_t>(
        std::count_if(trials_.begin(), trials_.end(), [](const Tried& one) { return !one.known; }));
    if (limits_.every || (!plan.clear && done < most_trials()))
      plan.next = next(plan, most_trials() - std::min(most_trials(), done));
    return plan;
  }

 private:
  size_t most_trials() const {
    return limits_.most_trials > 0 ? limits_.most_trials : half_of(belief_.choices().size());
  }

  /// As far as the shapes can tell.
  bool is_sure(const Plan& plan) const {
    if (!plan.answer) return false;
    const Standing& answer = plan.standings[*plan.answer];
    return answer.best >= limits_.sure && answer.measured &&
           std::all_of(plan.standings.begin(), plan.standings.end(),
                       [](const Standing& one) { return one.fits; });
  }

  bool is_clear(const Plan& plan) const {
    return is_sure(plan) &&
           std::all_of(plan.standings.begin(), plan.standings.end(),
                       [](const Standing& one) { return one.doubt == Doubt::none; });
  }

  /// How good a choice is at that speed; 0: over a bound.
  double worth(size_t choice, double speed) const {
    const double price = price_of(question_.prices, belief_.choices()[choice]);
    const double seconds = question_.work / speed;
    if (question_.deadline > 0 && seconds > question_.deadline) return 0;
    if (question_.budget > 0 && seconds * price / 3600 > question_.budget) return 0;
    return question_.want == Want::fastest ? speed : speed / price;
  }

  void add_doubts(Plan& plan) const {
    for (size_t i = 0; i < plan.standings.size(); ++i) {
      Standing& one = plan.standings[i];
      if (i != *plan.answer && one.had_no_room && one.best > (1 - limits_.sure) * one.works)
        one.doubt = Doubt::no_room;
    }
    const double best = worth(*plan.answer, plan.standings[*plan.answer].throughput().value);
    const auto fall = seen_fall(plan.standings);
    for (const auto& kind : belief_.kinds()) {
      const auto fewest = fewest_of(kind);
      if (!fewest || plan.standings[*fewest].measured) continue;
      const bool is_answers =
          belief_.choices()[*fewest].kind == belief_.choices()[*plan.answer].kind;
      const auto most = most_of(*fewest, kind, plan.standings, is_answers ? std::nullopt : fall);
      if (most && worth(*fewest, *most) > best * (1 - question_.close) &&
          plan.standings[*fewest].doubt == Doubt::none)
        plan.standings[*fewest].doubt = Doubt::fewest;
    }
  }

  /// How much faster the fewest of a kind were than more, at most; nothing: it was not seen.
  std::optional<double> seen_fall(const std::vector<Standing>& standings) const {
    std::optional<double> fall;
    for (const auto& kind : belief_.kinds()) {
      const auto fewest = fewest_of(kind);
      if (!fewest || !standings[*fewest].measured) continue;
      for (const size_t i : kind.choices)
        if (i != *fewest && standings[i].measured)
          fall = std::max(fall.value_or(0),
                          standings[*fewest].measured->value / standings[i].measured->value);
    }
    return fall;
  }

  std::optional<size_t> fewest_of(const KindBelief& kind) const {
    std::optional<size_t> fewest;
    for (const size_t i : kind.choices)
      if (works_[i] > 1 - limits_.sure &&
          (!fewest || belief_.choices()[i].count < belief_.choices()[*fewest].count))
        fewest = i;
    return fewest;
  }

  /// The highest speed that what was measured of a kind leaves to its fewest; nothing: none was.
  /// `fall`: how much faster the fewest of another kind are.
  std::optional<double> most_of(size_t fewest, const KindBelief& kind,
                                const std::vector<Standing>& standings,
                                std::optional<double> fall) const {
    std::optional<double> most;
    for (const size_t i : kind.choices) {
      if (!standings[i].measured) continue;
      const double fewer = belief_.choices()[i].count / belief_.choices()[fewest].count;
      // Of one there is no second that it has to be joined with.
      const bool alone = belief_.choices()[i].count <= 1;
      double faster = alone ? 1 : std::max(kDeepestCliff, std::pow(fewer, kSteepestFall));
      if (fall) faster = std::min(faster, std::max(1.0, kUnlike * *fall));
      const double upto = faster * standings[i].measured->value;
      most = std::min(most.value_or(upto), upto);
    }
    return most;
  }

  std::vector<Standing> standings() const {
    std::vector<Standing> all;
    for (size_t i = 0; i < belief_.choices().size(); ++i) {
      Standing one;
      one.expected = belief_.throughput(i);
      one.measured = measured_of(i, trials_);
      one.had_no_room =
          !one.measured && std::any_of(trials_.begin(), trials_.end(), [&](const Tried& trial) {
            return trial.choice == i && trial.end == TrialEnd::busy;
          });
      one.works = works_[i];
      one.within = worlds_.within()[i];
      one.best = worlds_.chances()[i];
      const double price = price_of(question_.prices, belief_.choices()[i]);
      const double speed = one.throughput().value;
      if (price > 0) one.unit_cost = price / 3600 / speed;
      if (question_.work > 0) one.seconds = question_.work / speed;
      if (question_.work > 0 && price > 0) one.cost = question_.work * *one.unit_cost;
      all.push_back(one);
    }
    // A single one cannot contradict itself.
    const auto measured = std::count_if(
        all.begin(), all.end(), [](const Standing& one) { return one.measured.has_value(); });
    for (auto& one : all) one.fits = measured < 2 || !one.measured || cluster::fits(one);
    return all;
  }

  /// The one that is most likely the best; nothing when it is more likely that none will do. What
  /// found no room is no answer while another was measured, and of those that are as good, or were
  /// measured to be, the smallest is one.
  std::optional<size_t> answer(const std::vector<Standing>& standings) const {
    std::optional<size_t> best;
    const bool any = std::any_of(standings.begin(), standings.end(),
                                 [](const Standing& one) { return one.measured && one.best > 0; });
    const auto may_be = [&](size_t i) { return !(any && standings[i].had_no_room); };
    for (size_t i = 0; i < standings.size(); ++i)
      if (may_be(i) && (!best || standings[i].best > standings[*best].best)) best = i;
    if (!best || standings[*best].best <= worlds_.none()) return std::nullopt;
    const auto& choices = belief_.choices();
    const auto first = *best;
    for (size_t i = 0; i < standings.size(); ++i)
      if (may_be(i) && choices[i].kind == choices[first].kind &&
          choices[i].count < choices[*best].count && is_as_good(standings[i], standings[first]))
        best = i;
    return best;
  }

  static bool is_as_good(const Standing& one, const Standing& other) {
    if (one.measured.has_value() != other.measured.has_value()) return false;
    return one.best >= other.best - kSameChance ||
           (one.measured && one.measured->value >= other.measured->value);
  }

  std::optional<size_t> best_by(Want want, const std::vector<Standing>& standings) const {
    std::optional<size_t> best;
    double most = -1e300;
    for (size_t i = 0; i < belief_.choices().size(); ++i) {
      const double price = price_of(question_.prices, belief_.choices()[i]);
      if (works_[i] < 0.5 || (want == Want::cheapest && !(price > 0))) continue;
      const double worth = std::log(standings[i].throughput().value) -
                           (want == Want::cheapest ? std::log(price) : 0);
      if (worth <= most) continue;
      most = worth;
      best = i;
    }
    return best;
  }

  double bonus_of(size_t choice) const {
    return works_[choice] == 1 ? 0 : kBestBonus * worlds_.chances()[choice];
  }

  /// What the shapes are sure of, but nobody has seen.
  std::optional<size_t> next_doubted(const Plan& plan) const {
    std::optional<size_t> next;
    for (size_t i = 0; i < plan.standings.size(); ++i)
      if (plan.standings[i].doubt == Doubt::fewest && may_be_tried(i, trials_) &&
          (!next || plan.standings[i].expected.value > plan.standings[*next].expected.value))
        next = i;
    return next;
  }

  /// With several trials left, the most promising are thought through once more, each with a second
  /// trial after it: two may tell together what neither does alone.
  std::optional<size_t> next(const Plan& plan, size_t left) const {
    if (is_sure(plan) && !limits_.every)
      if (const auto doubted = next_doubted(plan)) return doubted;
    std::vector<std::pair<double, size_t>> all;
    for (size_t i = 0; i < belief_.choices().size(); ++i) {
      const bool again = works_[i] == 1;  // it was measured before
      if (may_be_tried(i, trials_) && works_[i] > 0 && !(limits_.every && again))
        all.emplace_back(worlds_.promise(i) + bonus_of(i), i);
    }
    if (all.empty()) return std::nullopt;
    // Who has its room has it still: while nothing is known, others come first.
    if (all.size() > 1 && speeds_of(trials_).empty() && !trials_.empty() &&
        trials_.back().end == TrialEnd::busy)
      std::erase_if(all, [&](const auto& one) { return one.second == trials_.back().choice; });
    std::sort(all.begin(), all.end(), std::greater<>());
    if (left < 2 || limits_.every) return all.front().second;
    all.resize(std::min(all.size(), kThoughtThrough));
    std::vector<size_t> then;
    for (const auto& [value, choice] : all) then.push_back(choice);
    for (auto& [value, choice] : all) value = worlds_.promise(choice, then) + bonus_of(choice);
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
  for (const auto& price : question.prices)
    if (const auto& kind = price.first;
        !kind.empty() && std::none_of(choices.begin(), choices.end(),
                                      [&](const Choice& one) { return one.kind == kind; }))
      return bad_input(
          fmt::format("--price names {}, which is none of the choices", in_quotes(kind)));
  if (question.want != Want::cheapest && !(question.budget > 0)) return {};
  for (const auto& choice : choices)
    if (!(price_of(question.prices, choice) > 0))
      return bad_input(fmt::format(
          "what is cheapest or within a budget needs the price of an hour{}: --price '{}0.35'",
          choice.kind.empty() ? "" : " of " + in_quotes(choice.kind),
          choice.kind.empty() ? "" : choice.kind + "="));
  return {};
}

Plan plan_trials(const std::vector<Choice>& choices, const std::vector<Tried>& trials,
                 const Question& question, const PlanLimits& limits) {
  return Planner(choices, trials, question, limits).plan();
}

}  // namespace assay::cluster
