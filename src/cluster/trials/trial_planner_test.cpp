// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <assay/cluster/trial_planner.h>
#include <gtest/gtest.h>

namespace assay::cluster {
namespace {

using Want = Question::Want;

std::vector<Choice> choices_of(const std::string& text) {
  return parse_gpu_choices(text).value();
}

/// Tries what the plan wants, without noise, until it has enough.
Plan follow(const std::vector<Choice>& choices, const Question& question,
            const std::function<Tried(size_t)>& try_out, std::vector<Tried>& trials,
            const PlanLimits& limits = {}) {
  Plan plan = plan_trials(choices, trials, question, limits);
  while (plan.next) {
    trials.push_back(try_out(*plan.next));
    plan = plan_trials(choices, trials, question, limits);
  }
  return plan;
}

Tried measured(size_t choice, double throughput) {
  return {.choice = choice, .throughput = throughput, .error = 0.01};
}

TEST(TrialPlanner, FindsTheFastestAndTheCheapest) {
  const auto choices = choices_of("slow:1,2,4,8;fast:1,2,4");
  const Prices prices = {{"slow", 1}, {"fast", 4}};
  const auto speed = [&](size_t i) {
    const double n = choices[i].count;
    return (choices[i].kind == "slow" ? 100 : 300) * n / (1 + 0.03 * (n - 1));
  };
  const auto try_out = [&](size_t i) { return measured(i, speed(i)); };
  std::vector<Tried> trials;
  Plan plan = follow(choices, {.prices = prices}, try_out, trials);
  ASSERT_TRUE(plan.answer);
  EXPECT_EQ(name_of(choices[*plan.answer]), "fast x 4");
  EXPECT_LE(trials.size(), 3U);
  EXPECT_EQ(plan.fastest, plan.answer);
  trials.clear();
  plan = follow(choices, {.want = Want::cheapest, .prices = prices}, try_out, trials);
  ASSERT_TRUE(plan.answer);
  EXPECT_EQ(name_of(choices[*plan.answer]), "slow x 1");
  EXPECT_EQ(plan.cheapest, plan.answer);
}

TEST(TrialPlanner, ASingleTrialDoesNotMakeItClearThatMoreAreFaster) {
  const auto choices = choices_of("1,2");
  std::vector<Tried> trials = {measured(1, 51)};
  Plan plan = plan_trials(choices, trials, {});
  EXPECT_FALSE(plan.clear);
  EXPECT_EQ(plan.next, 0U);
  trials.push_back(measured(0, 101));
  plan = plan_trials(choices, trials, {});
  EXPECT_EQ(plan.answer, 0U);
  EXPECT_TRUE(plan.clear);
  EXPECT_NEAR(plan.standings[0].expected.value, 101, 3) << "a law explains it";
}

TEST(TrialPlanner, PartsOfOneMayBeSlowerThanSmallerOnes) {
  const auto choices = choices_of("0.25,0.5,1");
  std::vector<Tried> trials;
  const auto try_out = [&](size_t i) { return measured(i, 10 / choices[i].count); };
  const Plan plan = follow(choices, {}, try_out, trials);
  EXPECT_EQ(plan.answer, 0U);
}

TEST(TrialPlanner, PartsOfOneThatGrowTogetherAreClearWithoutTheSmallest) {
  const auto choices = choices_of("0.1,0.3,0.9");
  const std::vector<Tried> trials = {measured(2, 180), measured(1, 60)};
  const Plan plan = plan_trials(choices, trials, {});
  EXPECT_EQ(plan.answer, 2U);
  EXPECT_TRUE(plan.clear);
  EXPECT_FALSE(plan_trials(choices_of("1,3,9"), trials, {}).clear) << "one alone may be faster";
}

TEST(TrialPlanner, WhatIsMeasuredOfManyTellsOfAFasterOneWhereMoreAreSlower) {
  const auto choices = choices_of("a:1,2,4,8;b:1,2,4,8");
  const Prices prices = {{"a", 1}, {"b", 1}};
  // Of each kind only many were tried: that they are slower than fewer is not excluded by it.
  const std::vector<Tried> trials = {measured(2, 100), measured(7, 40)};
  const Plan plan = plan_trials(choices, trials, {.prices = prices}, {.most_trials = 8});
  EXPECT_FALSE(plan.clear);
  EXPECT_GT(plan.standings[0].best + plan.standings[1].best, 0.02);
}

TEST(TrialPlanner, WhatWasMeasuredIsToldAsItWas) {
  const auto choices = choices_of("1,2,4");
  const std::vector<Tried> trials = {measured(0, 100), measured(1, 30), measured(2, 300),
                                     measured(0, 104)};
  const Plan plan = plan_trials(choices, trials, {.prices = {{"", 3.6}}, .work = 1020});
  EXPECT_EQ(plan.standings[0].throughput().value, 102) << "the mean of two";
  EXPECT_EQ(plan.standings[0].seconds, 10);
  EXPECT_NEAR(plan.standings[0].cost.value(), 0.01, 1e-9);
  EXPECT_EQ(plan.standings[1].throughput().value, 30);
  EXPECT_FALSE(plan.standings[1].fits);
  EXPECT_FALSE(plan.clear) << "no law explains the second";
}

/// Choices, and how fast each of them is.
struct Job {
  const char* choices;
  std::vector<double> speeds;
};

TEST(TrialPlanner, IsNotSureOfWhatIsWrong) {
  const std::vector<Job> jobs = {
      {"T4:1;H:1,8", {100, 1000, 300}}, {"T4:1,2;H:1,8", {100, 55, 1000, 300}},
      {"T4:1;H:1,4", {100, 800, 300}},  {"16,32,64", {100, 150, 60}},
      {"4,8,16", {100, 150, 60}},       {"0.1,0.5,1,2,4", {10, 50, 100, 50, 25}},
      {"1,2,4", {100, 45, 85}},         {"1,2,4", {100, 30, 56}},
      {"2,4,8", {100, 84, 71}},         {"1,2,4,8", {100, 20, 38, 72}},
      {"a:1;b:1,8", {84, 141, 12.4}},   {"T4:1,2,4;A:1,2,4", {15.3, 5, 8.1, 184, 60, 97.7}}};
  for (const auto& job : jobs) {
    std::vector<Tried> trials;
    const auto try_out = [&](size_t i) { return measured(i, job.speeds[i]); };
    const Plan plan = follow(choices_of(job.choices), {}, try_out, trials);
    ASSERT_TRUE(plan.answer) << job.choices;
    const double best = *std::max_element(job.speeds.begin(), job.speeds.end());
    EXPECT_TRUE(!plan.clear || job.speeds[*plan.answer] == best) << job.choices;
  }
}

TEST(TrialPlanner, TheFewestAreTriedBeforeItIsClearThatMoreAreFaster) {
  const auto choices = choices_of("1,2,4,8");
  std::vector<Tried> trials = {measured(3, 780), measured(2, 395)};
  Plan plan = plan_trials(choices, trials, {}, {.most_trials = 4});
  EXPECT_EQ(plan.standings[0].doubt, Doubt::fewest);
  EXPECT_GT(plan.standings[3].best, 0.98) << "as most jobs scale";
  EXPECT_FALSE(plan.clear);
  EXPECT_EQ(plan.next, 0U);
  EXPECT_EQ(plan_trials(choices, trials, {}, {.most_trials = 2}).next, std::nullopt);
  trials.push_back({.choice = 0, .end = TrialEnd::failed});
  plan = plan_trials(choices, trials, {}, {.most_trials = 4});
  EXPECT_EQ(plan.standings[1].doubt, Doubt::fewest) << "the fewest that may run";
  trials.push_back(measured(1, 199));
  plan = plan_trials(choices, trials, {}, {.most_trials = 4});
  EXPECT_TRUE(plan.clear);
}

TEST(TrialPlanner, FewerOfAKindThatIsFarBehindNeedNoTrial) {
  const auto choices = choices_of("T4:1,2;A:1,2");
  const std::vector<Tried> trials = {measured(1, 20), measured(2, 1000), measured(3, 1900)};
  EXPECT_TRUE(plan_trials(choices, trials, {}, {.most_trials = 4}).clear);
  const Question soon{.work = 1e5, .deadline = 100};
  EXPECT_TRUE(plan_trials(choices, {measured(1, 150), trials[1], trials[2]}, soon).clear)
      << "six times 150 are too few to be in time";
}

TEST(TrialPlanner, OfTwoThatWereMeasuredAsEqualItAnswersTheSmaller) {
  const Plan plan = plan_trials(choices_of("1,2"), {measured(1, 100), measured(0, 100)}, {});
  EXPECT_EQ(plan.answer, 0U);
}

TEST(TrialPlanner, OfThoseThatAreAsGoodItAnswersTheSmallest) {
  const auto choices = choices_of("1,2,4");
  std::vector<Tried> trials = {measured(0, 100), measured(1, 100), measured(2, 100)};
  const Plan plan = plan_trials(choices, trials, {});
  EXPECT_EQ(plan.answer, 0U);
  EXPECT_EQ(plan.fastest, plan.answer) << "there is one fastest";
}

TEST(TrialPlanner, TrialsThatDisagreeAreNotExact) {
  const auto told = [](double a, double b, double other) {
    const std::vector<Tried> trials = {{.choice = 0, .throughput = 100, .error = a},
                                       {.choice = 0, .throughput = other, .error = b}};
    return plan_trials(choices_of("2"), trials, {}).standings[0];
  };
  EXPECT_GT(told(0.01, 0.01, 120).measured->sd, 0.08);
  EXPECT_NEAR(told(0.01, 0.3, 130).measured->value, 100, 0.5) << "the exact one counts more";
  EXPECT_TRUE(told(0.01, 0.01, 120).fits) << "one choice cannot contradict itself";
}

TEST(TrialPlanner, NoiseIsNoContradiction) {
  std::vector<Tried> trials;
  for (const auto& [choice, speed] : {std::pair(0, 100.0), {1, 230.0}, {2, 340.0}})
    trials.push_back({.choice = static_cast<size_t>(choice), .throughput = speed, .error = 0.1});
  const Plan plan = plan_trials(choices_of("1,2,4"), trials, {});
  EXPECT_TRUE(plan.standings[1].fits);
  EXPECT_TRUE(plan.clear);
}

TEST(TrialPlanner, WhatNeverFoundRoomIsNoAnswerAndKeepsOthersFromBeingClear) {
  const Tried full{.choice = 2, .end = TrialEnd::busy};
  const Plan plan =
      plan_trials(choices_of("1,2,4"), {measured(0, 100), measured(1, 195), full, full}, {});
  EXPECT_EQ(plan.answer, 1U);
  EXPECT_TRUE(plan.standings[2].had_no_room);
  EXPECT_FALSE(plan.clear);
  std::vector<Tried> trials = {measured(0, 100), measured(1, 780)};
  for (size_t i = 2; i < 5; ++i)
    for (int n = 0; n < 2; ++n) trials.push_back({.choice = i, .end = TrialEnd::busy});
  const Plan kinds = plan_trials(choices_of("a:1,8;b:1,2,4"), trials, {}, {.every = true});
  EXPECT_EQ(kinds.answer, 1U);
  EXPECT_FALSE(kinds.clear) << "the other kind may be faster";
}

TEST(TrialPlanner, WithoutRoomJustThenItIsTriedOnceMore) {
  const auto choices = choices_of("1,2");
  std::vector<Tried> trials = {measured(0, 100), {.choice = 1, .end = TrialEnd::busy}};
  Plan plan = plan_trials(choices, trials, {}, {.most_trials = 9});
  EXPECT_EQ(plan.next, 1U);
  EXPECT_FALSE(plan.clear);
  EXPECT_EQ(plan_trials(choices, {trials[1]}, {}, {.most_trials = 9}).next, 0U)
      << "while nothing is known, others come first";
  trials.push_back(trials[1]);
  plan = plan_trials(choices, trials, {}, {.most_trials = 9});
  EXPECT_NE(plan.next, 1U);
  EXPECT_FALSE(plan.clear) << "it may be the faster one, once there is room";
}

TEST(TrialPlanner, KeepsABudgetAndADeadline) {
  const auto choices = choices_of("a:1,2,4,8");
  // Twice as many are 1.6 times as fast: each doubling is a quarter dearer.
  const auto try_out = [&](size_t i) {
    return measured(i, 100 * std::pow(1.6, std::log2(choices[i].count)));
  };
  std::vector<Tried> trials;
  // One takes an hour and costs 1; two cost 1.25 and take 37.5 minutes; four 1.56, 23.4 minutes.
  Question question{.prices = {{"a", 1}}, .work = 360'000, .budget = 1.4};
  Plan plan = follow(choices, question, try_out, trials, {.most_trials = 4});
  ASSERT_TRUE(plan.answer);
  EXPECT_EQ(choices[*plan.answer].count, 2);
  question.want = Want::cheapest;
  question.budget = 0;
  question.deadline = 1800;
  trials.clear();
  plan = follow(choices, question, try_out, trials, {.most_trials = 4});
  ASSERT_TRUE(plan.answer);
  EXPECT_EQ(choices[*plan.answer].count, 4);
  EXPECT_NEAR(plan.standings[2].cost.value(), 1.5625, 0.05);
  EXPECT_NEAR(plan.standings[2].seconds.value(), 1406, 50);
}

TEST(TrialPlanner, SaysWhenNothingWillDo) {
  const auto choices = choices_of("a:1,2");
  const Question question{.want = Want::cheapest, .prices = {{"a", 1}}, .work = 1e6, .deadline = 1};
  std::vector<Tried> trials = {measured(0, 100), measured(1, 190)};
  const Plan plan = plan_trials(choices, trials, question);
  EXPECT_FALSE(plan.answer);
  EXPECT_FALSE(plan.next);
}

TEST(TrialPlanner, FailedChoicesAreNoAnswerAndNotTriedAgain) {
  const auto choices = choices_of("a:1,2,4,8");
  std::vector<Tried> trials = {{.choice = 3, .end = TrialEnd::no_room},
                               {.choice = 0, .end = TrialEnd::failed}};
  const Plan plan = plan_trials(choices, trials, {}, {.most_trials = 4});
  ASSERT_TRUE(plan.next);
  EXPECT_TRUE(*plan.next == 1 || *plan.next == 2);
  EXPECT_EQ(plan.standings[3].works, 0);
  EXPECT_LT(plan.standings[1].works, 0.9);
  for (size_t i = 1; i < 3; ++i) trials.push_back({.choice = i, .end = TrialEnd::failed});
  const Plan none = plan_trials(choices, trials, {});
  EXPECT_FALSE(none.answer);
  EXPECT_FALSE(none.next);
}

TEST(TrialPlanner, WhatIsKnownBeforeIsNoTrial) {
  const auto choices = choices_of("a:1,2;b:1,2");
  const std::vector<Tried> known = {{.choice = 2, .end = TrialEnd::no_room, .known = true},
                                    {.choice = 3, .end = TrialEnd::no_room, .known = true},
                                    measured(0, 100)};
  EXPECT_EQ(plan_trials(choices, known, {}).next, 1U);
}

TEST(TrialPlanner, ALostTrialIsTriedAgainButNotForEver) {
  const auto choices = choices_of("1");
  std::vector<Tried> trials = {{.choice = 0, .end = TrialEnd::lost}};
  EXPECT_EQ(plan_trials(choices, trials, {}, {.most_trials = 9}).next, 0U);
  trials.push_back(trials[0]);
  EXPECT_FALSE(plan_trials(choices, trials, {}, {.most_trials = 9}).next);
}

TEST(TrialPlanner, StopsAtHalfOfTheChoices) {
  EXPECT_EQ(half_of(1), 1U);
  EXPECT_EQ(half_of(3), 2U);
  EXPECT_EQ(half_of(9), 4U);
  const auto choices = choices_of("a:1,2;b:1,2");
  std::vector<Tried> trials = {measured(1, 100), measured(3, 100.5)};
  EXPECT_FALSE(plan_trials(choices, trials, {}).next);
}

TEST(TrialPlanner, TriesEachOnceWhenItIsTold) {
  const auto choices = choices_of("1,2,4");
  std::vector<Tried> trials;
  const auto try_out = [&](size_t i) { return measured(i, 100 * choices[i].count); };
  const Plan plan = follow(choices, {}, try_out, trials, {.every = true});
  EXPECT_EQ(trials.size(), 3U);
  EXPECT_TRUE(plan.clear);
}

TEST(TrialPlanner, QuestionsNeedPricesAndWork) {
  const auto choices = choices_of("a:1;b:1");
  EXPECT_TRUE(check_question({}, choices));
  EXPECT_FALSE(check_question({.want = Want::cheapest, .prices = {{"a", 1}}}, choices));
  EXPECT_TRUE(check_question({.want = Want::cheapest, .prices = {{"", 1}}}, choices));
  EXPECT_FALSE(check_question({.prices = {{"c", 1}}}, choices)) << "no choice has that kind";
  EXPECT_FALSE(check_question({.prices = {{"", 1}}, .budget = 1}, choices));
  EXPECT_FALSE(check_question({.deadline = 1}, choices));
  EXPECT_TRUE(check_question({.work = 5, .deadline = 1}, choices));
}

}  // namespace
}  // namespace assay::cluster
