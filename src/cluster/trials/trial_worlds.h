// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <assay/cluster/scaling_law.h>
#include <assay/cluster/trial_planner.h>

namespace assay::cluster {

/// How likely each choice is to run at all, by what became of it and of others of its kind: where
/// two found no room, four will not, and where four ran out of memory, two will.
std::vector<double> works_of(const std::vector<Choice>& choices, const std::vector<Tried>& trials);

/// What is likely of all choices together, as a set of worlds that are drawn from a belief: in each
/// one, how fast every choice is, and which are the best or close to it for a question.
class Worlds {
 public:
  Worlds(const ScalingBelief& belief, const Question& question, const std::vector<double>& works);

  /// For each choice, in which share of the worlds it is the best or close to it.
  const std::vector<double>& chances() const { return chances_; }
  /// For each choice, in which share of the worlds it is within budget and deadline, if it works.
  const std::vector<double>& within() const { return within_; }
  /// In which share of the worlds none of them works and is within.
  double none() const { return none_; }
  /// How likely the most likely answer is expected to be after a trial of this choice; that none
  /// will do is an answer too.
  double promise(size_t choice) const;

 private:
  struct World {
    std::vector<double> speeds;  ///< logarithms
    std::vector<unsigned char> works;
    std::vector<size_t> best;  ///< or close to it
  };
  void draw(const ScalingBelief& belief);
  void judge(World& world);
  double promise_of(size_t choice, const World& truth) const;

  const Question& question_;
  const std::vector<double>& works_;
  std::vector<double> offsets_;  ///< worth = logarithm of the throughput + offset
  std::vector<double> needed_;   ///< logarithm of the throughput from which it is within
  std::vector<double> spreads_;  ///< of a choice's speed over the worlds
  std::vector<World> worlds_;
  std::vector<double> chances_;
  std::vector<double> within_;
  double none_ = 0;
};

}  // namespace assay::cluster
