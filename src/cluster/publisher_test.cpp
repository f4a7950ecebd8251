// SPDX-License-Identifier: Apache-2.0
#include "publisher.h"

#include "testing/api_server.h"
#include "testing/small_cluster.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace assay::cluster {
namespace {

using kubeapi::testing::answer;
using kubeapi::testing::ApiServer;
using kubeapi::testing::path_of;
using testing::SmallCluster;

constexpr const char* kDone = R"({"metadata": {"name": "x", "uid": "u", "resourceVersion": "1"}})";

struct Publishing {
  explicit Publishing(std::vector<std::string> answers, double rate = 1000)
      : server(std::move(answers)),
        client(server.access()),
        limiter(clock, {.per_second = rate, .burst = rate}),
        publisher(client, {}, {}, limiter, clock,
                  [this](const std::string& sentence) { told.push_back(sentence); }) {}

  Result<void> write() {
    publisher.plan(cluster.tracker);
    return publisher.write(
        cluster.tracker, [this] { return more; }, stopper);
  }

  SmallCluster cluster;
  ApiServer server;
  ManualClock clock{Timestamp(std::chrono::seconds(1'700'000'000))};
  kubeapi::Client client;
  kubeapi::RateLimiter limiter;
  std::vector<std::string> told;
  Publisher publisher;
  net::Stopper stopper;
  bool more = true;
};

TEST(Publisher, writes_each_object_once_and_then_only_what_changed) {
  Publishing run(std::vector<std::string>(10, answer(200, kDone)));
  run.cluster.round();
  ASSERT_TRUE(run.write());
  EXPECT_EQ(run.server.asked().size(), 4u) << "a node, two pods and a job";
  run.cluster.round();
  ASSERT_TRUE(run.write());
  EXPECT_EQ(run.server.asked().size(), 4u);
  run.cluster.reading.gpus[1].utilization = 20;
  run.cluster.round();
  ASSERT_TRUE(run.write());
  ASSERT_EQ(run.server.asked().size(), 6u) << "the pod, and the mean of its job";
  EXPECT_TRUE(path_of(run.server.asked()[4]).starts_with("/api/v1/namespaces/lab/pods/train-1?"));
  EXPECT_EQ(run.publisher.writes().by_outcome[0], 6u);
  EXPECT_EQ(run.publisher.writes().waiting, 0u);
}

TEST(Publisher, begins_with_what_changed_most) {
  Publishing run(std::vector<std::string>(10, answer(200, kDone)));
  for (int i = 0; i < 10; ++i) run.cluster.round();
  ASSERT_TRUE(run.write());
  run.cluster.reading.pods[{"lab", "train-0"}].cores = 1.5;
  run.cluster.reading.pods[{"lab", "train-1"}].cores = 40;
  run.cluster.round();
  ASSERT_TRUE(run.write());
  const auto asked = run.server.asked();
  ASSERT_GT(asked.size(), 6u);
  EXPECT_NE(asked[4].find("train-1"), std::string::npos) << asked[4];
}

TEST(Publisher, what_is_not_reached_stays_due_and_gets_older) {
  Publishing run({});
  run.cluster.round();
  run.more = false;
  ASSERT_TRUE(run.write());
  EXPECT_EQ(run.publisher.writes().waiting, 4u);
  run.clock.advance(std::chrono::seconds(90));
  ASSERT_TRUE(run.write());
  EXPECT_EQ(run.publisher.writes().stalest_seconds, 90);
  EXPECT_TRUE(run.server.asked().empty());
}

TEST(Publisher, an_object_that_is_gone_or_taken_does_no_harm) {
  const auto taken = answer(409, R"({"message": "Apply failed", "details": {"causes": [{
      "reason": "FieldManagerConflict", "field": ".metadata.annotations.ai.centaurus.io/usage",
      "message": "conflict with \"other\" using v1"}]}})");
  Publishing run({answer(404, "{}"), answer(404, "{}"), taken, answer(403, R"({"message": "no"})"),
                  answer(403, R"({"message": "no"})"), answer(200, kDone), answer(200, kDone),
                  answer(200, kDone)});
  run.cluster.round();
  ASSERT_TRUE(run.write());
  uint64_t outcomes = 0;
  for (const auto count : run.publisher.writes().by_outcome) outcomes += count;
  EXPECT_EQ(outcomes, 4u);
  const auto asked = run.server.asked().size();
  ASSERT_TRUE(run.write());
  EXPECT_EQ(run.server.asked().size(), asked) << "the same would be refused again";
  EXPECT_FALSE(run.told.empty());
  EXPECT_FALSE(run.publisher.writes().why.empty());
}

TEST(Publisher, an_api_server_that_is_away_is_asked_again_in_the_next_round) {
  Publishing run({});
  run.cluster.round();
  EXPECT_FALSE(run.write());
  EXPECT_EQ(run.publisher.writes().unanswered, 3u);
  EXPECT_GE(run.publisher.writes().waiting, 3u);
  EXPECT_FALSE(run.write()) << "and again";
  EXPECT_EQ(run.publisher.writes().waiting, 4u);
}

TEST(Publisher, one_object_that_fails_does_not_hold_up_the_others) {
  std::vector<std::string> answers(4, answer(200, kDone));
  answers[0] = answer(500, R"({"message": "failed calling webhook"})");
  Publishing run(answers);
  run.cluster.round();
  ASSERT_TRUE(run.write());
  EXPECT_EQ(run.publisher.writes().unanswered, 1u);
  EXPECT_NE(run.publisher.writes().why.find("failed calling webhook"), std::string::npos);
  EXPECT_EQ(run.publisher.writes().by_outcome[0], 3u);
  EXPECT_EQ(run.publisher.writes().waiting, 1u);
}

TEST(Publisher, what_fails_in_each_round_holds_up_no_other_for_ever) {
  std::vector<std::string> answers(3, answer(500, R"({"message": "failed calling webhook"})"));
  answers.push_back(answer(200, kDone));
  answers.resize(7, answers[0]);
  Publishing run(answers);
  run.cluster.round();
  EXPECT_FALSE(run.write());
  EXPECT_EQ(run.publisher.writes().by_outcome[0], 0u);
  EXPECT_FALSE(run.write());
  EXPECT_EQ(run.publisher.writes().by_outcome[0], 1u);
  const auto asked = run.server.asked();
  for (size_t i = 0; i < 3; ++i)
    EXPECT_NE(path_of(asked.at(i)), path_of(asked.at(3))) << "the one that was not tried is first";
  EXPECT_EQ(run.publisher.writes().waiting, 3u);
}

TEST(Publisher, what_was_forbidden_is_tried_again_some_minutes_later) {
  const auto forbidden = answer(403, R"({"message": "x cannot patch resource"})");
  // Behind each that is forbidden it is asked whether it is there.
  std::vector<std::string> answers(8, forbidden);
  answers.resize(12, answer(200, kDone));
  Publishing run(answers);
  run.cluster.round();
  ASSERT_TRUE(run.write());
  EXPECT_EQ(run.publisher.writes().by_outcome[4], 4u);
  ASSERT_TRUE(run.write());
  EXPECT_EQ(run.server.asked().size(), 8u);
  run.clock.advance(std::chrono::minutes(10));
  ASSERT_TRUE(run.write());
  EXPECT_EQ(run.publisher.writes().by_outcome[0], 4u) << "somebody gave the right";
  run.clock.advance(std::chrono::minutes(10));
  ASSERT_TRUE(run.write());
  EXPECT_EQ(run.server.asked().size(), 12u);
}

TEST(Publisher, of_much_that_is_forbidden_a_few_find_out_whether_it_still_is) {
  const auto forbidden = answer(403, R"({"message": "x cannot patch resource"})");
  constexpr size_t kObjects = 24;
  constexpr size_t kFew = 4 + 2 + 1;  // nodes, pods, jobs
  std::vector<std::string> answers(2 * (kObjects + kFew), forbidden);
  answers.resize(answers.size() + kObjects, answer(200, kDone));
  Publishing run(answers);
  for (size_t i = 4; i < kObjects; ++i) {
    const auto name = "more-" + std::to_string(i);
    run.cluster.seen.nodes.push_back({.object = {kubeapi::nodes(), "", name, name}});
    run.cluster.reading.nodes[name] = {.cores = 4, .memory_bytes = 8e9};
  }
  run.cluster.round();
  ASSERT_TRUE(run.write());
  EXPECT_EQ(run.publisher.writes().by_outcome[4], kObjects);
  run.clock.advance(std::chrono::minutes(10));
  ASSERT_TRUE(run.write());
  EXPECT_EQ(run.publisher.writes().by_outcome[4], kObjects + kFew);
  const auto tried = run.server.asked();
  run.clock.advance(std::chrono::minutes(10));
  ASSERT_TRUE(run.write());
  EXPECT_EQ(run.publisher.writes().by_outcome[0], kFew);
  const auto asked = run.server.asked();
  for (size_t i = tried.size(); i < asked.size(); ++i) {
    const auto path = path_of(asked[i]);
    const auto before = [&](const auto& one) { return path_of(one) == path; };
    EXPECT_EQ(path.starts_with("/api/v1/nodes/"),
              std::none_of(tried.begin() + 2 * kObjects, tried.end(), before))
        << "there are others than " << path;
  }
  ASSERT_TRUE(run.write());
  EXPECT_EQ(run.publisher.writes().by_outcome[0], kObjects) << "the right is there for all";
}

TEST(Publisher, jobs_that_are_over_take_no_turn_of_others) {
  Publishing run(std::vector<std::string>(16, answer(403, R"({"message": "x cannot patch"})")));
  run.cluster.round();
  ASSERT_TRUE(run.write());
  auto& jobs = run.cluster.tracker.jobs();
  for (const std::string uid : {"a", "b", "c", "d", "e"}) {
    jobs[uid] = jobs.at("job-1");
    jobs[uid].gone = true;
    jobs[uid].published.forbidden = Timestamp();
  }
  const size_t before = run.server.asked().size();
  run.clock.advance(std::chrono::minutes(10));
  ASSERT_TRUE(run.write());
  const auto asked = run.server.asked();
  EXPECT_TRUE(std::any_of(
      asked.begin() + static_cast<ptrdiff_t>(before), asked.end(),
      [](const auto& one) { return path_of(one).find("/mpijobs/") != std::string::npos; }));
}

TEST(Publisher, waits_for_what_the_history_has_not_told_yet) {
  Publishing run(std::vector<std::string>(10, answer(200, kDone)));
  run.cluster.round();
  run.publisher.plan(run.cluster.tracker, true);
  EXPECT_EQ(run.publisher.writes().waiting, 0u);
  run.cluster.tracker.pods().at("pod-0").read_back = true;
  run.publisher.plan(run.cluster.tracker, true);
  EXPECT_EQ(run.publisher.writes().waiting, 1u);
  run.publisher.plan(run.cluster.tracker);
  EXPECT_EQ(run.publisher.writes().waiting, 4u) << "without a history nothing waits";
}

}  // namespace
}  // namespace assay::cluster
