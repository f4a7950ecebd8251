// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trial_works.h"

#include <array>
#include <span>
#include <vector>

#include <assay/cluster/scaling_law.h>
#include <assay/cluster/trial_planner.h>

namespace assay::cluster {

/// What is likely of all choices together, as a set of worlds that are drawn from a belief: in each
/// one, how fast every choice is, and which are the best or close to it for a question.
class Worlds {
 public:
  Worlds(const ScalingBelief& belief, const Question& question, const Workable& workable);

  /// For each choice, in which share of the worlds it is the best or close to it.
  const std::vector<double>& chances() const { return chances_; }
  /// For each choice, in which share of the worlds it is within budget and deadline, if it works.
  const std::vector<double>& within() const { return within_; }
  /// In which share of the worlds none of them works and is within.
  double none() const { return none_; }
  /// How likely the most likely answer is expected to be after a trial of this choice; that none
  /// will do is an answer too. With `then`, after a second trial too, of one of these.
  double promise(size_t choice, std::span<const size_t> then = {}) const;

 private:
  void judge(const Question& question, const std::vector<Choice>& choices);
  double best_guess(std::span<const size_t> worlds) const;
  double expected(std::span<const size_t> worlds, size_t choice,
                  std::span<const size_t> then) const;

  ScalingBelief::Draws draws_;
  std::vector<std::vector<unsigned char>> works_;  ///< [world][choice]
  std::array<std::vector<double>, 2> noise_;       ///< [trial][world], standard normal
  std::vector<size_t> best_;                       ///< of all worlds, one after the other
  std::vector<size_t> best_from_;                  ///< [world]: where in best_; one more at the end
  std::vector<double> chances_;
  std::vector<double> within_;
  double none_ = 0;
};

}  // namespace assay::cluster
