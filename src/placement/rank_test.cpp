// SPDX-License-Identifier: Apache-2.0
#include "testing/fleet.h"

#include <nlohmann/json.hpp>

#include <assay/placement/document.h>
#include <gtest/gtest.h>

namespace assay::placement {
namespace {

using testing::candidate;

std::vector<std::string> order(const Ranking& ranking) {
  std::vector<std::string> names;
  for (const auto& one : ranking.devices) names.push_back(one.candidate.node.name);
  return names;
}
using Names = std::vector<std::string>;

TEST(Rank, the_fastest_is_first_and_clear) {
  const auto ranking = rank({{candidate("slow", .3), candidate("fast", .1)}, {}}, {});
  EXPECT_EQ(order(ranking), (Names{"fast", "slow"}));
  EXPECT_TRUE(ranking.clear);
  EXPECT_GT(*ranking.confidence, .99);
  EXPECT_EQ(ranking.answer, "fast, 100 ms (95.2 ms to 105 ms)");
  EXPECT_EQ(reason_for(ranking.devices[1], ranking), "300 ms; 3 times as long as fast");
}

TEST(Rank, intervals_that_overlap_leave_it_open) {
  const auto ranking = rank({{candidate("a", .100, .1), candidate("b", .102, .1)}, {}}, {});
  EXPECT_FALSE(ranking.clear);
  EXPECT_GT(*ranking.confidence, .5);
  EXPECT_LT(*ranking.confidence, .65);
  EXPECT_TRUE(ranking.answer.starts_with("cannot tell whether a or b is faster"));
  // Two that are as good as known apart by as much are told.
  EXPECT_TRUE(rank({{candidate("a", .100, .005), candidate("b", .102, .005)}, {}}, {}).clear);
}

TEST(Rank, also_a_third_that_little_is_known_of_leaves_it_open) {
  const auto ranking = rank(
      {{candidate("a", .0100, .02), candidate("b", .0105, .02), candidate("c", .0106, .6)}, {}},
      {});
  EXPECT_FALSE(ranking.clear);
  EXPECT_LT(*ranking.confidence, .6);
  EXPECT_TRUE(ranking.answer.starts_with("cannot tell whether a or c is faster")) << ranking.answer;
}

TEST(Rank, one_without_room_is_last_and_says_so) {
  auto small = candidate("small", .1);
  small.memory_needed = 2e9;
  small.node.memory_bytes = 4e9;
  small.node.memory_available = 1e9;
  const auto ranking = rank({{small, candidate("large", .2)}, {}}, {});
  EXPECT_EQ(order(ranking), (Names{"large", "small"}));
  EXPECT_FALSE(ranking.devices[1].possible);
  EXPECT_EQ(reason_for(ranking.devices[1], ranking),
            "no room: it needs 2000 MB of memory and 1000 MB are there");
  EXPECT_TRUE(ranking.clear);
  EXPECT_EQ(rank({{small}, {}}, {}).answer, "no device has room for it");
}

TEST(Rank, the_transfer_counts) {
  auto far = candidate("far", .1);
  far.transfer_seconds = .5;
  auto near = candidate("near", .3);
  near.transfer_seconds = .01;
  EXPECT_EQ(order(rank({{far, near}, {}}, {})), (Names{"near", "far"}));
  // Where it is not known of one, it counts for none.
  EXPECT_EQ(order(rank({{far, candidate("unknown", .3)}, {}}, {})), (Names{"far", "unknown"}));
}

TEST(Rank, a_transfer_that_is_known_leaves_little_doubt) {
  auto far = candidate("far", .01, .5);
  far.transfer_seconds = .5;
  auto near = candidate("near", .01, .5);
  near.transfer_seconds = .4;
  EXPECT_TRUE(rank({{far, near}, {}}, {}).clear);
}

TEST(Rank, a_goal_that_is_only_just_reached_is_no_certainty) {
  const auto ranking =
      rank({{candidate("a", .099, .3), candidate("b", .101, .3)}, {}}, {.latency_seconds = .1});
  EXPECT_FALSE(ranking.clear);
  EXPECT_EQ(ranking.answer, "a, 99 ms, but cannot tell whether it stays in time (52 %)");
}

TEST(Rank, goals_come_before_speed) {
  auto fast = candidate("fast", .1);
  fast.joules = 5;
  fast.node.load = .5;
  fast.seconds = fast.high = .15;  // others are there too
  fast.idle_seconds = .1;
  auto frugal = candidate("frugal", .2);
  frugal.joules = 1;
  const Candidates both{{fast, frugal}, {}};
  EXPECT_EQ(order(rank(both, {})), (Names{"fast", "frugal"}));
  EXPECT_EQ(order(rank(both, {.energy_joules = 2})), (Names{"frugal", "fast"}));
  EXPECT_EQ(order(rank(both, {.keep_free = .6})), (Names{"frugal", "fast"}));
  // Three a second keep the frugal one busy for more than half of the time.
  EXPECT_EQ(order(rank(both, {.keep_free = .45, .requests_per_second = 3})),
            (Names{"fast", "frugal"}));
  const auto none = rank(both, {.latency_seconds = .05});
  EXPECT_EQ(order(none), (Names{"fast", "frugal"}));
  EXPECT_EQ(none.answer,
            "no device reaches all goals; nearest is fast: 150 ms is over the latency of 50 ms");
}

TEST(Rank, energy_that_is_not_known_is_no_energy_that_is_reached) {
  const auto ranking = rank({{candidate("a", .1)}, {}}, {.energy_joules = 2});
  EXPECT_EQ(ranking.devices[0].missed, Names{"what energy it takes is not known"});
}

TEST(Rank, nobody_is_an_answer_too) {
  const auto ranking = rank({{}, {{"pi", "gone"}}}, {});
  EXPECT_EQ(ranking.answer, "no device is known that could run it");
  EXPECT_FALSE(ranking.clear);
  EXPECT_FALSE(ranking.confidence);
}

TEST(RankingText, has_the_answer_first_and_each_device) {
  auto busy = candidate("pi-2", .2);
  busy.node.load = .8;
  busy.idle_seconds = .05;
  busy.doubt = "far from all that was learned";
  const auto ranking = rank({{candidate("pi-1", .1), busy}, {{"pi-3", "it is gone"}}}, {});
  EXPECT_EQ(
      ranking_text("resnet", ranking, false),
      "resnet: pi-1, 100 ms (95.2 ms to 105 ms)\n"
      "\n"
      "  node       time      4 of 5 times        busy  engine  why\n"
      "  pi-1     100 ms    95.2 ms to   105 ms    0 %  opencv  100 ms\n"
      "  pi-2     200 ms     190 ms to   210 ms   80 %  opencv  200 ms; it is 80 % busy, idle it "
      "would take 50 ms; 2 times as long as pi-1\n"
      "\nDoubt about pi-2: far from all that was learned\n"
      "\nLeft out:\n  pi-3: it is gone\n");
}

TEST(RankingDocument, has_quantiles_reasons_and_who_is_left_out) {
  const auto document = nlohmann::json::parse(
      ranking_json(rank({{candidate("pi-1", .1)}, {{"pi-3", "it is gone"}}}, {})));
  EXPECT_EQ(document["devices"][0]["quantiles"]["0.5"], .1);
  EXPECT_EQ(document["devices"][0]["transfer_seconds"], nullptr);
  EXPECT_EQ(document["devices"][0]["reason"], "100 ms");
  EXPECT_EQ(document["left_out"][0]["reason"], "it is gone");
  EXPECT_EQ(document["clear"], true);
}

}  // namespace
}  // namespace assay::placement
