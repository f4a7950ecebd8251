// SPDX-License-Identifier: Apache-2.0
#include "trial_works.h"

#include <gtest/gtest.h>

namespace assay::cluster {
namespace {

const std::vector<Choice> kChoices = {{"a", 1}, {"a", 2}, {"a", 4}, {"a", 8}, {"b", 1}};

TEST(TrialWorks, MostIsThoughtToWork) {
  const Workable workable(kChoices, {});
  for (const double chance : workable.chances()) {
    EXPECT_GT(chance, 0.75);
    EXPECT_LT(chance, 1);
  }
}

TEST(TrialWorks, WhereThereIsNoRoomThereIsNoneForMore) {
  const Workable told(kChoices, {{.choice = 1, .end = TrialEnd::no_room}});
  EXPECT_EQ(told.chances()[1], 0);
  EXPECT_LT(told.chances()[2], 0.1);
  EXPECT_LT(told.chances()[3], 0.1);
  EXPECT_GT(told.chances()[0], 0.3);
  EXPECT_EQ(told.chances()[4], Workable(kChoices, {}).chances()[4]) << "another kind";
}

TEST(TrialWorks, WhatLacksMemoryLacksItWithFewerToo) {
  const Workable told(kChoices, {{.choice = 2, .end = TrialEnd::failed}});
  EXPECT_LT(told.chances()[0], 0.1);
  EXPECT_LT(told.chances()[1], 0.1);
  EXPECT_GT(told.chances()[3], 0.3);
}

TEST(TrialWorks, WhatWorkedHasRoomForLess) {
  const Workable told(kChoices, {{.choice = 1}, {.choice = 2}});
  EXPECT_EQ(told.chances()[1], 1);
  EXPECT_EQ(told.chances()[2], 1);
  const Workable before(kChoices, {});
  EXPECT_GT(told.chances()[0], before.chances()[0]);
  EXPECT_GT(told.chances()[3], before.chances()[3]);
}

TEST(TrialWorks, NodesSayForHowManyThereIsRoom) {
  const Workable known(kChoices, {{.choice = 3, .end = TrialEnd::no_room, .known = true}});
  const Workable tried(kChoices, {{.choice = 3, .end = TrialEnd::no_room}});
  EXPECT_EQ(known.chances()[3], 0);
  EXPECT_GT(known.chances()[2], 0.85);
  EXPECT_LT(tried.chances()[2], 0.7);
}

TEST(TrialWorks, ALostTrialTellsNothing) {
  EXPECT_EQ(Workable(kChoices, {{.choice = 0, .end = TrialEnd::lost}}).chances(),
            Workable(kChoices, {}).chances());
}

TEST(TrialWorks, RoomThatOthersHadMayBeThereLater) {
  const Tried taken{.choice = 3, .end = TrialEnd::busy};
  const double before = Workable(kChoices, {}).chances()[3];
  const double once = Workable(kChoices, {taken}).chances()[3];
  EXPECT_LT(once, before);
  EXPECT_GT(once, 0.5);
  EXPECT_EQ(Workable(kChoices, {taken, taken}).chances()[3], once) << "by the same others";
}

TEST(TrialWorks, WhatWorkedOnceWorks) {
  const std::vector<Tried> trials = {{.choice = 1}, {.choice = 1, .end = TrialEnd::failed}};
  EXPECT_EQ(Workable(kChoices, trials).chances()[1], 1);
}

TEST(TrialWorks, IsDrawnAsItIsLikely) {
  const Workable told(kChoices, {{.choice = 2, .end = TrialEnd::failed}, {.choice = 4}});
  std::mt19937_64 engine(1);
  std::vector<double> shares(kChoices.size());
  std::vector<unsigned char> works(kChoices.size());
  for (int i = 0; i < 4000; ++i) {
    told.draw(engine, works);
    for (size_t one = 0; one < works.size(); ++one) shares[one] += works[one] / 4000.0;
  }
  for (size_t one = 0; one < works.size(); ++one)
    EXPECT_NEAR(shares[one], told.chances()[one], 0.03) << one;
}

}  // namespace
}  // namespace assay::cluster
