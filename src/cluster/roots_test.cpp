// SPDX-License-Identifier: Apache-2.0
#include "roots.h"

#include "testing/api_server.h"

#include <optional>

#include <gtest/gtest.h>

namespace assay::cluster {
namespace {

using kubeapi::Owner;
using kubeapi::testing::answer;
using kubeapi::testing::ApiServer;

const Owner kJob{
    .kind = "Job", .name = "step", .uid = "j", .api_version = "batch/v1", .controller = true};
const Owner kMpi{.kind = "MPIJob",
                 .name = "train",
                 .uid = "m",
                 .api_version = "kubeflow.org/v1",
                 .controller = true};
constexpr const char* kKinds = R"({"kind": "APIResourceList", "groupVersion": "kubeflow.org/v1",
  "resources": [{"name": "mpijobs", "kind": "MPIJob", "namespaced": true}]})";
constexpr const char* kMeta = R"({"metadata": {"name": "train", "namespace": "lab", "uid": "m"}})";

struct Finder {
  explicit Finder(std::vector<std::string> answers)
      : server(std::move(answers)),
        client(server.access()),
        limiter(clock, {.per_second = 100, .burst = 100}),
        roots(client, limiter, clock) {}

  std::optional<kubeapi::ObjectName> find(const Owner& owner) {
    using Parent = std::optional<Owner>;
    return roots.find(owner, "lab", [this](const Owner& object) -> std::optional<Parent> {
      if (object.uid == unheard) return std::nullopt;
      const auto at = parents.find(object.uid);
      return at == parents.end() ? Parent() : Parent(at->second);
    });
  }
  std::string found(const Owner& owner) {
    const auto object = find(owner);
    return object ? object->resource.name() + " " + object->name : "";
  }

  ApiServer server;
  ManualClock clock{Timestamp(std::chrono::seconds(1000))};
  kubeapi::Client client;
  kubeapi::RateLimiter limiter;
  Roots roots;
  net::Stopper stopper;
  std::map<std::string, Owner> parents;
  std::string unheard;
};

TEST(Roots, of_a_pod_of_a_job_is_the_job) {
  Finder finder({});
  EXPECT_EQ(finder.found(kJob), "jobs.batch step");
  finder.parents["j"] = {.kind = "CronJob", .uid = "c", .api_version = "batch/v1"};
  EXPECT_EQ(finder.found(kJob), "jobs.batch step") << "each run of a cron job is a job";
}

TEST(Roots, services_are_no_jobs) {
  Finder finder({});
  const Owner set{.kind = "ReplicaSet", .uid = "r", .api_version = "apps/v1"};
  finder.parents["r"] = {.kind = "Deployment", .uid = "d", .api_version = "apps/v1"};
  EXPECT_EQ(finder.found(set), "");
  for (const char* kind : {"StatefulSet", "DaemonSet", "Deployment"})
    EXPECT_EQ(finder.found({.kind = kind, .uid = "s", .api_version = "apps/v1"}), "");
  finder.parents["e"] = kMpi;
  EXPECT_EQ(finder.found({.kind = "DaemonSet", .uid = "e", .api_version = "apps/v1"}), "")
      << "an operator's own, on all nodes";
  EXPECT_EQ(finder.found({.kind = "Node", .uid = "n", .api_version = "v1"}), "");
  EXPECT_TRUE(finder.server.asked().empty());
}

TEST(Roots, go_up_to_what_an_operator_brought) {
  Finder finder({answer(200, kKinds), answer(200, kMeta)});
  finder.parents["j"] = kMpi;
  EXPECT_EQ(finder.found(kJob), "") << "until it is looked up";
  ASSERT_TRUE(finder.roots.look_up(finder.stopper));
  EXPECT_EQ(finder.found(kJob), "mpijobs.kubeflow.org train");
  EXPECT_EQ(finder.found(kMpi), "mpijobs.kubeflow.org train");
  ASSERT_TRUE(finder.roots.look_up(finder.stopper));
  EXPECT_EQ(finder.server.asked().size(), 2u) << "nothing is asked twice";
}

TEST(Roots, are_found_through_sets_deployments_and_other_pods) {
  Finder finder({answer(200, kKinds), answer(200, kMeta)});
  const Owner pod{.kind = "Pod", .uid = "p", .api_version = "v1"};
  const Owner set{.kind = "ReplicaSet", .uid = "r", .api_version = "apps/v1"};
  const Owner deployment{.kind = "Deployment", .uid = "d", .api_version = "apps/v1"};
  const Owner stateful{.kind = "StatefulSet", .uid = "s", .api_version = "apps/v1"};
  finder.parents = {{"r", deployment}, {"d", kMpi}, {"s", kMpi}, {"p", stateful}};
  EXPECT_EQ(finder.found(set), "") << "until it is looked up";
  ASSERT_TRUE(finder.roots.look_up(finder.stopper));
  for (const auto& owner : {set, deployment, stateful, pod})
    EXPECT_EQ(finder.found(owner), "mpijobs.kubeflow.org train") << owner.kind;
}

TEST(Roots, the_copy_of_a_trial_is_nobodys) {
  Owner original = kMpi;
  original.controller = false;
  EXPECT_EQ(parent_of({original}, {}), original);
  EXPECT_EQ(parent_of({original}, {{"assay.trial", "t"}}), std::nullopt);
  EXPECT_EQ(parent_of({original, kJob}, {{"assay.trial", "t"}}), kJob) << "a pod of the copy";
  EXPECT_EQ(parent_of({}, {}), std::nullopt);
}

TEST(Roots, a_kind_that_is_not_installed_is_asked_for_again_later) {
  Finder finder({answer(404, "{}"), answer(404, "{}"), answer(404, "{}"), answer(404, "{}"),
                 answer(404, "{}")});
  finder.parents["j"] = kMpi;
  EXPECT_EQ(finder.found(kJob), "");
  ASSERT_TRUE(finder.roots.look_up(finder.stopper));
  const auto asked = finder.server.asked().size();
  EXPECT_EQ(finder.found(kJob), "jobs.batch step");
  ASSERT_TRUE(finder.roots.look_up(finder.stopper));
  EXPECT_EQ(finder.server.asked().size(), asked);
  finder.clock.advance(std::chrono::minutes(2));
  EXPECT_EQ(finder.found(kJob), "jobs.batch step");
  ASSERT_TRUE(finder.roots.look_up(finder.stopper));
  EXPECT_GT(finder.server.asked().size(), asked);
}

TEST(Roots, without_the_right_to_look_the_owner_is_the_end) {
  Finder finder({answer(200, kKinds), answer(403, R"({"message": "no"})")});
  EXPECT_EQ(finder.found(kMpi), "");
  ASSERT_TRUE(finder.roots.look_up(finder.stopper));
  EXPECT_EQ(finder.found(kMpi), "mpijobs.kubeflow.org train");
}

TEST(Roots, are_not_guessed_while_the_server_does_not_answer) {
  Finder finder({answer(200, kKinds), answer(500, "{}"), answer(200, kMeta)});
  finder.parents["j"] = kMpi;
  EXPECT_EQ(finder.found(kJob), "");
  EXPECT_FALSE(finder.roots.look_up(finder.stopper));
  EXPECT_EQ(finder.found(kJob), "") << "the Job would have it for a minute";
  finder.clock.advance(std::chrono::minutes(2));
  EXPECT_EQ(finder.found(kJob), "");
  ASSERT_TRUE(finder.roots.look_up(finder.stopper));
  EXPECT_EQ(finder.found(kJob), "mpijobs.kubeflow.org train");
}

const kubeapi::ObjectName kMpiJob{
    {.group = "kubeflow.org", .plural = "mpijobs", .kind = "MPIJob"}, "lab", "other", "o"};

kubeapi::ObjectName in(const std::string& name_space, kubeapi::ObjectName job) {
  job.name_space = name_space;
  return job;
}

TEST(Roots, what_had_no_answer_may_hide_any_job_of_its_namespace) {
  Finder finder({answer(200, kKinds), answer(503, "{}"), answer(200, kMeta)});
  const kubeapi::ObjectName job{kubeapi::jobs(), "lab", "step", "j"};
  const auto may_hide = [&](const kubeapi::ObjectName& object) {
    (void)finder.found(kMpi);
    finder.roots.forget_unused();
    return finder.roots.hidden().may_have(object);
  };
  EXPECT_FALSE(finder.roots.hidden().may_have(kMpiJob));
  EXPECT_TRUE(may_hide(kMpiJob)) << "not asked yet";
  EXPECT_FALSE(finder.roots.look_up(finder.stopper));
  for (const auto& object : {kMpiJob, job, in("", kMpiJob)}) EXPECT_TRUE(may_hide(object));
  EXPECT_FALSE(may_hide(in("office", kMpiJob))) << "owners are of one namespace";
  finder.clock.advance(std::chrono::minutes(2));
  EXPECT_TRUE(may_hide(kMpiJob)) << "it is asked again";
  EXPECT_TRUE(finder.roots.look_up(finder.stopper));
  EXPECT_FALSE(may_hide(kMpiJob));
}

TEST(Roots, what_is_refused_or_not_installed_hides_jobs_of_its_kind_alone) {
  const std::vector<std::string> refused(1, answer(403, R"({"message": "no"})"));
  const std::vector<std::string> not_installed(5, answer(404, "{}"));
  for (const auto& answers : {refused, not_installed}) {
    Finder finder(answers);
    (void)finder.found(kMpi);
    (void)finder.roots.look_up(finder.stopper);
    const auto hidden = finder.roots.hidden();
    EXPECT_TRUE(hidden.may_have(kMpiJob));
    EXPECT_FALSE(hidden.may_have(in("office", kMpiJob)));
    EXPECT_FALSE(hidden.may_have({kubeapi::jobs(), "lab", "step", "j"}));
    finder.roots.forget_unused();
    finder.roots.forget_unused();
    EXPECT_FALSE(finder.roots.hidden().may_have(kMpiJob)) << "its pods are gone";
  }
}

TEST(Roots, an_owner_that_is_gone_or_may_not_be_seen_hides_none) {
  for (const int status : {404, 403}) {
    Finder finder({answer(200, kKinds), answer(status, "{}")});
    (void)finder.found(kMpi);
    ASSERT_TRUE(finder.roots.look_up(finder.stopper));
    EXPECT_FALSE(finder.roots.hidden().may_have(kMpiJob)) << status;
  }
}

TEST(Roots, operators_below_k8s_io_are_operators) {
  EXPECT_FALSE(is_built_in("sparkoperator.k8s.io"));
  EXPECT_FALSE(is_built_in("kubeflow.org"));
  for (const char* group :
       {"", "apps", "batch", "coordination.k8s.io", "rbac.authorization.k8s.io"})
    EXPECT_TRUE(is_built_in(group)) << group;
}

TEST(Roots, an_owner_that_cannot_be_had_holds_up_no_other) {
  Finder finder({answer(200, kKinds), answer(500, "{}"), answer(200, kMeta)});
  auto first = kMpi;
  first.uid = "a";
  EXPECT_EQ(finder.found(first), "");
  EXPECT_EQ(finder.found(kMpi), "");
  EXPECT_FALSE(finder.roots.look_up(finder.stopper));
  EXPECT_EQ(finder.found(kMpi), "mpijobs.kubeflow.org train");
}

TEST(Roots, a_server_that_is_away_is_not_waited_for_by_each_owner) {
  Finder finder({answer(200, kKinds), answer(500, "{}"), answer(500, "{}"), answer(500, "{}"),
                 answer(200, kMeta)});
  auto owner = kMpi;
  for (const char* uid : {"a", "b", "c", "m"}) {
    owner.uid = uid;
    EXPECT_EQ(finder.found(owner), "");
  }
  EXPECT_FALSE(finder.roots.look_up(finder.stopper));
  EXPECT_EQ(finder.server.asked().size(), 4u);
  EXPECT_TRUE(finder.roots.look_up(finder.stopper)) << "in the next round";
  EXPECT_EQ(finder.found(kMpi), "mpijobs.kubeflow.org train");
}

TEST(Roots, those_that_fail_for_ever_hold_up_no_others) {
  std::vector<std::string> answers(13, answer(500, "{}"));
  answers[0] = answer(200, kKinds);
  answers.push_back(answer(200, kMeta));
  Finder finder(answers);
  std::vector<Owner> owners(13, kMpi);
  for (size_t i = 0; i < 12; ++i) owners[i].uid = std::string("a") + static_cast<char>('a' + i);
  for (int round = 0; round < 5; ++round) {
    for (const auto& owner : owners) (void)finder.find(owner);
    (void)finder.roots.look_up(finder.stopper);
    finder.clock.advance(std::chrono::seconds(90));
  }
  EXPECT_EQ(finder.found(kMpi), "mpijobs.kubeflow.org train");
}

TEST(Roots, a_job_that_nobody_has_heard_of_yet_is_waited_for) {
  Finder finder({});
  finder.unheard = "j";
  EXPECT_EQ(finder.found(kJob), "");
}

TEST(Roots, circles_end) {
  Finder finder({});
  finder.parents["j"] = kJob;
  EXPECT_EQ(finder.found(kJob), "jobs.batch step");
}

}  // namespace
}  // namespace assay::cluster
