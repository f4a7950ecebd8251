// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <random>
#include <vector>

#include <assay/cluster/trial_planner.h>

namespace assay::cluster {

/// Which choices run at all. In each kind there is a least count that has memory enough and a most
/// for which there is room; what became of trials tells of both: where two found no room, four
/// will not, and where four ran out of memory, two will. Room that others have just then may be
/// free later, or never.
class Workable {
 public:
  Workable(const std::vector<Choice>& choices, const std::vector<Tried>& trials);

  /// For each choice, how likely it runs; 1 when it was measured, 0 when it never works.
  const std::vector<double>& chances() const { return chances_; }
  /// For each choice, whether it runs in a world drawn by chance.
  void draw(std::mt19937_64& engine, std::vector<unsigned char>& works) const;

 private:
  struct Bounds {
    size_t least = 0, most = 0;  ///< places in a kind: least <= place < most works
    double upto = 0;             ///< sum of the probabilities up to this one
  };
  struct Kind {
    std::vector<size_t> choices;  ///< by count
    std::vector<Bounds> bounds;
  };
  static std::vector<Bounds> bounds_of(const std::vector<size_t>& choices,
                                       const std::vector<Tried>& trials);

  std::vector<Kind> kinds_;
  std::vector<signed char> told_;  ///< by choice: -1 not tried, 0 does not work, 1 works
  std::vector<double> chances_;
};

}  // namespace assay::cluster
