// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <assay/cluster/scaling_law.h>
#include <assay/cluster/trial_choices.h>

namespace assay::cluster {

/// What is to be found out. Time and cost are those of `work` units.
struct Question {
  enum class Want : uint8_t { fastest, cheapest };
  Want want = Want::fastest;
  Prices prices = {};
  double work = 0;      ///< units; needed for a budget or a deadline
  double budget = 0;    ///< in what prices are in; 0: any
  double deadline = 0;  ///< seconds; 0: any
  double close = 0.02;  ///< a choice that is worse by no more than this is as good as the best
};
/// A question that cannot be answered for these choices: a price is missing, or the work.
Result<void> check_question(const Question& question, const std::vector<Choice>& choices);

/// What became of a trial.
enum class TrialEnd : uint8_t {
  measured,
  no_room,  ///< it can never be scheduled, or a quota never allows it
  failed,   ///< it ran and ended badly, as for lack of memory
  lost,     ///< by nobody's fault: its node disappeared; it says nothing about the choice
  busy,     ///< others had its room just then, or so it seems
};

struct Tried {
  size_t choice = 0;  ///< index
  TrialEnd end = TrialEnd::measured;
  double throughput = 0;  ///< when measured
  double error = 0;       ///< relative; 0: not known
  bool known = false;     ///< without a trial: no node has so many GPUs
};

/// Why a choice that is not likely to be the best keeps the answer from being clear all the same.
enum class Doubt : uint8_t {
  none,
  no_room,  ///< others had it, and the choice was never measured
  /// The fewest of their kind that may run, never measured: no law says how much faster fewer are
  /// where more are in each other's way, as over a slow network.
  fewest,
};

/// A choice as it stands.
struct Standing {
  Estimate expected;  ///< throughput, by all trials and the shapes; its sd is relative
  std::optional<Estimate> measured;  ///< throughput, the mean of its own trials
  bool fits = true;  ///< what was measured is what the shapes make of all trials, more or less
  bool had_no_room = false;         ///< others had it, and it was never measured
  Doubt doubt = Doubt::none;        ///< why it may be better than the answer
  double works = 0;                 ///< probability that it runs at all
  double within = 0;                ///< probability that it is within budget and deadline
  double best = 0;                  ///< probability that it is the best, or close to it
  std::optional<double> seconds;    ///< of the work
  std::optional<double> cost;       ///< of the work
  std::optional<double> unit_cost;  ///< of one unit

  /// What was measured counts more than what is thought of it.
  const Estimate& throughput() const { return measured ? *measured : expected; }
};

struct PlanLimits {
  size_t most_trials = 0;  ///< 0: half of the choices, at least two; repeats count
  double sure = 0.98;      ///< with which probability the answer has to be right to stop
  bool every = false;      ///< each choice once, however clear the answer is
};

struct Plan {
  std::optional<size_t> next;       ///< what to try; nothing: it is enough
  std::optional<size_t> answer;     ///< the best choice; nothing: none works and is within
  std::vector<Standing> standings;  ///< by choice
  std::optional<size_t> fastest;    ///< of those that work, whatever was asked
  std::optional<size_t> cheapest;   ///< per unit; nothing without prices
  bool clear =
      false;  ///< the answer is sure enough, all that was measured fits, and no doubt is left
};

/// What to try next and what to answer now. The next trial is the one after which the answer is
/// expected to gain most. Pure and deterministic: the same trials give the same plan.
Plan plan_trials(const std::vector<Choice>& choices, const std::vector<Tried>& trials,
                 const Question& question, const PlanLimits& limits = {});

/// Half of the choices, at least two, and never more than there are.
size_t half_of(size_t choices);

}  // namespace assay::cluster
