// SPDX-License-Identifier: Apache-2.0
#include "act/steward.h"

#include <assay/samples/goal.h>
#include <gtest/gtest.h>

namespace assay::agent {
namespace {

using std::chrono::seconds;

/// An app of which each frame costs so much time of a core, and that takes all it can get.
struct Worker {
  std::string goal;
  double frame_cost = 0.1;  ///< core-seconds
  double fixed_fps = 0;     ///< else what its cores give
  double limit = 0;         ///< 0: none
  double cores = 0;
  double fps() const { return fixed_fps > 0 ? fixed_fps : cores / frame_cost; }
};

/// A machine whose cores are shared evenly among those that are not limited to less.
class StewardTest : public ::testing::Test {
 protected:
  void add(const std::string& name, Worker worker) {
    workers["/docker/" + name] = std::move(worker);
    share();
  }
  Worker& worker(const std::string& name) { return workers.at("/docker/" + name); }

  void share() {
    double left = kCores;
    auto waiting = workers.size();
    std::vector<Worker*> by_limit;
    for (auto& [path, worker] : workers) by_limit.push_back(&worker);
    const auto limit_of = [](const Worker* w) { return w->limit > 0 ? w->limit : kCores; };
    std::sort(by_limit.begin(), by_limit.end(),
              [&](const Worker* a, const Worker* b) { return limit_of(a) < limit_of(b); });
    for (Worker* const w : by_limit) {
      w->cores = std::min(limit_of(w), left / static_cast<double>(waiting--));
      left -= w->cores;
    }
    idle = left;
  }

  void observe() {
    for (auto& [path, worker] : workers) {
      Decision& decision = apps[path];
      decision.name = path.substr(path.rfind('/') + 1);
      Evidence& evidence = decision.evidence;
      evidence.goals = {{.goal = parse_goal(worker.goal).value(), .value = worker.fps()}};
      evidence.silent = seconds(1);
      evidence.over = over;
      evidence.running = seconds(100);
      evidence.cores = worker.cores;
      evidence.cores_limit = worker.limit > 0 ? std::optional(worker.limit) : std::nullopt;
      evidence.throttled_share = worker.limit > 0 && worker.cores >= worker.limit ? 0.9 : 0;
      evidence.node_cores = kCores;
      evidence.node_idle_cores = idle;
      decision.main.take(judge(evidence, decision.main.finding().verdict), now);
    }
  }

  /// Lets so many seconds pass, makes the steps that are due, and returns what they were.
  std::vector<std::string> pass(int length) {
    std::vector<std::string> made;
    for (int i = 0; i < length; ++i) {
      now += seconds(1);
      observe();
      const auto step = steward.next(apps, now);
      if (!step) continue;
      made.push_back(in_words(*step));
      if (refuse) {
        steward.failed(*step, now);
        continue;
      }
      workers.at(step->path).limit = step->to.cores.value_or(0);
      steward.made(*step, apps, now);
      share();
    }
    return made;
  }
  bool all_meet() {
    observe();
    return std::all_of(workers.begin(), workers.end(), [&](const auto& entry) {
      return apps.at(entry.first).evidence.goals.front().met() == true;
    });
  }

  static constexpr double kCores = 2;
  ActSettings settings{.enabled = true};
  std::map<std::string, Worker> workers;
  std::map<std::string, Decision> apps;
  Timestamp now = from_unix_ns(1'700'000'000'000'000'000);
  Steward steward{settings, {.cores = kCores, .memory_bytes = uint64_t{4} << 30U}};
  double idle = 0;
  bool refuse = false;
  Nanoseconds over = seconds(5);
};

TEST_F(StewardTest, two_apps_that_want_every_core_both_reach_their_goals) {
  add("needs_ten", {.goal = "fps >= 10", .frame_cost = 0.16});
  add("needs_one", {.goal = "fps >= 1", .frame_cost = 0.033});
  EXPECT_FALSE(all_meet());
  const auto steps = pass(60);
  EXPECT_TRUE(all_meet());
  ASSERT_FALSE(steps.empty());
  EXPECT_EQ(steps.front(),
            "lower needs_one: cores no limit -> 0.75: it has far more than it needs for fps >= 1, "
            "and needs_ten misses fps >= 10");
  EXPECT_TRUE(pass(300).empty()) << "then it is quiet";
}

TEST_F(StewardTest, steps_are_small) {
  add("needs_ten", {.goal = "fps >= 10", .frame_cost = 0.19});
  add("needs_one", {.goal = "fps >= 1", .frame_cost = 0.033});
  double before = worker("needs_one").cores;
  for (int second = 0; second < 120; ++second) {
    pass(1);
    EXPECT_GE(worker("needs_one").cores, before * 0.75 - 1e-9);
    before = worker("needs_one").cores;
  }
}

TEST_F(StewardTest, one_that_its_own_limit_starves_gets_more) {
  add("slow", {.goal = "fps >= 10", .frame_cost = 0.1, .limit = 0.5});
  const auto steps = pass(60);
  EXPECT_TRUE(all_meet());
  EXPECT_EQ(steps.front(),
            "raise slow: cores 0.50 -> 0.62: it misses fps >= 10 and its limit holds it back");
}

TEST_F(StewardTest, nobody_gets_more_than_the_operator_allows) {
  settings.most_cores = 0.8;
  steward.set(settings);
  add("slow", {.goal = "fps >= 10", .frame_cost = 0.1, .limit = 0.5});
  pass(120);
  EXPECT_DOUBLE_EQ(worker("slow").limit, 0.8);
}

TEST_F(StewardTest, one_that_needs_what_it_has_is_left_alone) {
  add("needs_ten", {.goal = "fps >= 10", .frame_cost = 0.16});
  add("needs_six", {.goal = "fps >= 6", .frame_cost = 0.16});
  EXPECT_TRUE(pass(120).empty());
}

TEST_F(StewardTest, a_step_that_made_things_worse_is_undone) {
  add("needs_ten", {.goal = "fps >= 10", .frame_cost = 0.19});
  // What half the cores cost is not half the frames: it stops at once below 0.7 cores.
  add("brittle", {.goal = "fps >= 10", .fixed_fps = 30});
  std::vector<std::string> steps;
  for (int second = 0; second < 60; ++second) {
    worker("brittle").fixed_fps = worker("brittle").cores < 0.7 ? 2 : 30;
    for (auto& step : pass(1)) steps.push_back(std::move(step));
  }
  ASSERT_GE(steps.size(), 3U);
  EXPECT_EQ(steps[0].substr(0, 13), "lower brittle");
  EXPECT_EQ(steps[2], "undo brittle: cores 0.56 -> 0.75: it misses fps >= 10 with less");
  EXPECT_DOUBLE_EQ(worker("brittle").limit, 0.75) << "and it is not tried again at once";
}

TEST_F(StewardTest, one_that_fails_at_the_first_step_is_left_alone_for_minutes) {
  add("needs_ten", {.goal = "fps >= 10", .frame_cost = 0.19});
  add("brittle", {.goal = "fps >= 10", .fixed_fps = 30});
  std::vector<std::string> steps;
  for (int second = 0; second < 120; ++second) {
    worker("brittle").fixed_fps = worker("brittle").cores < 0.9 ? 2 : 30;
    for (auto& step : pass(1)) steps.push_back(std::move(step));
  }
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(steps[1], "undo brittle: cores 0.75 -> no limit: it misses fps >= 10 with less");
}

TEST_F(StewardTest, one_without_a_single_frame_does_not_cost_others_all) {
  add("dead", {.goal = "fps >= 10", .fixed_fps = 1e-9});
  add("needs_one", {.goal = "fps >= 1", .frame_cost = 0.033});
  EXPECT_EQ(pass(60).size(), 4U) << "three steps that did not help, and back";
  EXPECT_DOUBLE_EQ(worker("needs_one").limit, 0);
}

TEST_F(StewardTest, goals_that_are_seldom_known_are_waited_for) {
  add("needs_ten", {.goal = "fps >= 10", .frame_cost = 0.16});
  add("needs_one", {.goal = "fps >= 1", .frame_cost = 0.033});
  over = seconds(20);
  EXPECT_LE(pass(60).size(), 3U);
}

TEST_F(StewardTest, memory_that_was_given_is_not_taken_back) {
  Decision& app = apps["/docker/full"];
  app.name = "full";
  app.evidence.goals = {{.goal = parse_goal("fps >= 10").value(), .value = 5}};
  app.evidence.silent = seconds(1);
  app.evidence.memory = 99e6;
  app.evidence.memory_limit = 100e6;
  app.evidence.memory_limit_hits = 9;
  for (int second = 0; second < 10; ++second)
    app.main.take(judge(app.evidence, app.main.finding().verdict), now += seconds(1));
  const auto step = steward.next(apps, now);
  ASSERT_TRUE(step);
  EXPECT_EQ(step->to.memory_bytes, 124'997'632U);
  steward.made(*step, apps, now);
  EXPECT_TRUE(steward.put_back().empty());
}

TEST_F(StewardTest, steps_that_help_nobody_are_undone) {
  add("needs_ten", {.goal = "fps >= 10", .fixed_fps = 5});  // whatever it gets
  add("needs_one", {.goal = "fps >= 1", .frame_cost = 0.033});
  const auto steps = pass(60);
  ASSERT_EQ(steps.size(), 4U);
  EXPECT_EQ(steps[3], "undo needs_one: cores 0.42 -> no limit: it did not help needs_ten");
}

TEST_F(StewardTest, apps_that_the_operator_does_not_name_are_not_touched) {
  settings.apps = {"other*"};
  steward.set(settings);
  add("needs_ten", {.goal = "fps >= 10", .frame_cost = 0.16});
  add("needs_one", {.goal = "fps >= 1", .frame_cost = 0.033});
  EXPECT_TRUE(pass(60).empty());
}

TEST_F(StewardTest, what_could_not_be_done_is_not_tried_again_at_once) {
  refuse = true;
  add("needs_ten", {.goal = "fps >= 10", .frame_cost = 0.16});
  add("needs_one", {.goal = "fps >= 1", .frame_cost = 0.033});
  EXPECT_EQ(pass(120).size(), 1U);
}

TEST_F(StewardTest, limits_are_given_back_when_nobody_needs_them_any_more) {
  add("needs_ten", {.goal = "fps >= 10", .frame_cost = 0.16});
  add("needs_one", {.goal = "fps >= 1", .frame_cost = 0.033});
  pass(60);
  EXPECT_GT(worker("needs_one").limit, 0);
  workers.erase("/docker/needs_ten");
  apps.erase("/docker/needs_ten");
  share();
  pass(300);
  EXPECT_DOUBLE_EQ(worker("needs_one").limit, 0);
  EXPECT_TRUE(steward.put_back().empty());
}

TEST_F(StewardTest, all_can_be_put_back) {
  add("needs_ten", {.goal = "fps >= 10", .frame_cost = 0.16});
  add("needs_one", {.goal = "fps >= 1", .frame_cost = 0.033, .limit = 1.5});
  pass(60);
  const auto steps = steward.put_back();
  ASSERT_EQ(steps.size(), 1U);
  EXPECT_EQ(steps[0].to.cores, 1.5);
}

TEST(Bounds, are_named_when_they_are_crossed) {
  const NodeSize node{.cores = 4, .memory_bytes = 4'000'000'000};
  EXPECT_TRUE(check_bounds({.cores = 4}, {}, node));
  const auto much = check_bounds({.cores = 5}, {}, node);
  ASSERT_FALSE(much);
  EXPECT_EQ(much.error().message, "cores: 5 is not within the operator's bounds, 0.1 to 4");
  EXPECT_FALSE(check_bounds({.memory_bytes = 1000}, {}, node));
}

}  // namespace
}  // namespace assay::agent
