// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "additive.h"
#include "trees.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <assay/base/result.h>
#include <assay/predict/grid.h>

namespace assay::predict {

/// Times of one task for many items.
struct ManyTimes {
  Grid costs;                       ///< items x costs: what adds up to the time
  Grid features;                    ///< items x features
  std::vector<double> seconds;      ///< of each item, all measured
  std::vector<std::string> groups;  ///< items of one are never on both sides of a validation
  std::vector<std::string> kinds;   ///< of items that may behave apart; most are of one kind
};

/// Tells times of a task that has more of them than a Gaussian process can take: an additive
/// estimate in seconds, and trees on the logarithm of what is above it. How the trees grow is
/// chosen by what they tell of a part that was held back; the two best ways are averaged. A kind
/// that few items have is told by trees of its own where those told that part better.
class Boosted {
 public:
  /// Needs libxgboost. At least kLeastItems items.
  static Result<Boosted> learn(const ManyTimes& times, uint64_t seed = 0);
  static constexpr size_t kLeastItems = 40;

  /// The logarithms of seconds. A kind that was not learned from is told as the usual one.
  std::vector<double> tell(const Grid& costs, const Grid& features,
                           const std::vector<std::string>& kinds) const;

 private:
  struct Member {
    Additive base;
    double scale = 1;
    std::optional<Trees> trees;
  };
  using Part = std::vector<Member>;  ///< whose mean is told
  friend class BoostedLearner;

  std::map<std::string, Part> parts_;
  std::string usual_;
};

}  // namespace assay::predict
