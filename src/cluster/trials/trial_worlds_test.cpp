// SPDX-License-Identifier: Apache-2.0
#include "trial_worlds.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace assay::cluster {
namespace {

const std::vector<Choice> kChoices = {{"a", 1}, {"b", 1}};

TEST(TrialWorlds, ASecondTrialTellsWhatOneDoesNot) {
  const ScalingBelief belief(kChoices, {});
  const Worlds worlds(belief, {}, Workable(kChoices, {}));
  const std::vector<size_t> then = {0, 1};
  EXPECT_GT(worlds.promise(0, then), worlds.promise(0) + 0.1);
  EXPECT_GT(worlds.promise(0, then), 0.9);
}

TEST(TrialWorlds, ATrialOfWhatIsKnownPromisesNothing) {
  const std::vector<Speed> speeds = {{0, 100, 0.01}, {0, 100, 0.01}, {0, 100, 0.01}};
  const ScalingBelief belief(kChoices, speeds);
  const Worlds worlds(belief, {}, Workable(kChoices, {{.choice = 0}}));
  const auto& chances = worlds.chances();
  EXPECT_NEAR(worlds.promise(0), *std::max_element(chances.begin(), chances.end()), 0.03);
  EXPECT_GT(worlds.promise(1), worlds.promise(0) + 0.2);
}

}  // namespace
}  // namespace assay::cluster
