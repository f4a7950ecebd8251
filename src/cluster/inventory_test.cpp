// SPDX-License-Identifier: Apache-2.0
#include "inventory.h"

#include "testing/api_server.h"

#include <gtest/gtest.h>

namespace assay::cluster {
namespace {

using kubeapi::Change;

struct Kept {
  kubeapi::testing::ApiServer server{std::vector<std::string>{}};
  kubeapi::Client client{server.access()};
  SystemClock clock;
  kubeapi::RateLimiter limiter{clock, {}};
  Roots roots{client, limiter, clock};
  Inventory inventory{"nvidia.com/gpu"};
};

kubeapi::Pod pod(const char* name, const char* uid) {
  kubeapi::Pod pod;
  pod.name = name;
  pod.name_space = "lab";
  pod.uid = uid;
  pod.node = "n1";
  return pod;
}

TEST(Inventory, is_complete_when_both_lists_are_there) {
  Kept kept;
  EXPECT_FALSE(kept.inventory.complete());
  kept.inventory.take(Change<kubeapi::Pod>{Change<kubeapi::Pod>::Kind::all, {}});
  EXPECT_FALSE(kept.inventory.complete());
  kept.inventory.take(Change<kubeapi::Node>{Change<kubeapi::Node>::Kind::all, {}});
  EXPECT_TRUE(kept.inventory.complete());
}

TEST(Inventory, follows_what_changes) {
  Kept kept;
  using Pods = Change<kubeapi::Pod>;
  auto worker = pod("w", "u1");
  worker.owners = {
      {.kind = "Job", .name = "j", .uid = "j1", .api_version = "batch/v1", .controller = true}};
  worker.labels["assay.trial"] = "train";
  worker.started = Timestamp(std::chrono::seconds(1000));
  auto done = pod("d", "u2");
  done.phase = kubeapi::PodPhase::succeeded;
  done.host_network = true;
  kept.inventory.take(Pods{Pods::Kind::all, {worker, done}});
  auto seen = kept.inventory.seen(kept.roots);
  ASSERT_EQ(seen.pods.size(), 2u);
  for (const auto& one : seen.pods) {
    EXPECT_EQ(one.over, one.object.uid == "u2");
    EXPECT_FALSE(one.failed);
    EXPECT_EQ(one.host_network, one.object.uid == "u2");
    EXPECT_EQ(one.job.has_value(), one.object.uid == "u1");
    EXPECT_EQ(one.started, one.object.uid == "u1" ? worker.started : std::nullopt);
    EXPECT_EQ(one.trial, one.object.uid == "u1" ? "train" : "");
  }
  done.phase = kubeapi::PodPhase::failed;
  kept.inventory.take(Pods{Pods::Kind::set, {done}});
  for (const auto& one : kept.inventory.seen(kept.roots).pods) {
    EXPECT_EQ(one.over, one.object.uid == "u2");
    EXPECT_EQ(one.failed, one.object.uid == "u2");
  }
  kept.inventory.take(Pods{Pods::Kind::gone, {done}});
  EXPECT_EQ(kept.inventory.seen(kept.roots).pods.size(), 1u);
  kept.inventory.take(Pods{Pods::Kind::set, {pod("x", "u3")}});
  EXPECT_EQ(kept.inventory.seen(kept.roots).pods.size(), 2u);
}

TEST(Inventory, follows_owners_through_what_stands_between) {
  Kept kept;
  using Middle = Inventory::Middle;
  using Metas = Change<kubeapi::ObjectMeta>;
  const auto owned = [](const char* uid, const char* kind, const char* api, const char* by) {
    kubeapi::ObjectMeta meta;
    meta.uid = uid;
    // Not everybody says that they control what they make.
    if (*by) meta.owners = {{.kind = kind, .name = "o", .uid = by, .api_version = api}};
    return meta;
  };
  auto worker = pod("w", "u1");
  worker.owners = {{.kind = "ReplicaSet", .name = "r", .uid = "r1", .api_version = "apps/v1"}};
  auto helper = pod("h", "u2");
  helper.owners = {{.kind = "Pod", .name = "w", .uid = "u1", .api_version = "v1"}};
  kept.inventory.take(Change<kubeapi::Pod>{Change<kubeapi::Pod>::Kind::all, {worker, helper}});
  const auto with_job = [&] {
    int found = 0;
    for (const auto& one : kept.inventory.seen(kept.roots).pods)
      found += one.job && one.job->uid == "j1";
    return found;
  };
  const auto clear = [&] { return kept.inventory.seen(kept.roots).unclear.empty(); };
  EXPECT_FALSE(clear()) << "nobody lets us list replica sets";
  kept.inventory.take(Middle::replica_sets,
                      Metas{Metas::Kind::all, {owned("r1", "Deployment", "apps/v1", "d1")}});
  kept.inventory.take(Middle::deployments,
                      Metas{Metas::Kind::all, {owned("d1", "StatefulSet", "apps/v1", "s1")}});
  kept.inventory.take(Middle::stateful_sets,
                      Metas{Metas::Kind::all, {owned("s1", "Job", "batch/v1", "j1")}});
  EXPECT_FALSE(kept.inventory.knows_owners());
  EXPECT_EQ(with_job(), 2) << "as far as lists are there";
  EXPECT_FALSE(clear()) << "somebody may have made the job";
  kept.inventory.take(Middle::jobs, Metas{Metas::Kind::all, {}});
  EXPECT_TRUE(kept.inventory.knows_owners());
  EXPECT_EQ(with_job(), 0) << "not heard of yet";
  EXPECT_EQ(kept.inventory.seen(kept.roots).unclear, std::set<std::string>{"lab"});
  kept.inventory.take(Middle::jobs, Metas{Metas::Kind::set, {owned("j1", "", "", "")}});
  EXPECT_EQ(with_job(), 2);
  EXPECT_TRUE(clear());
  using Pods = Change<kubeapi::Pod>;
  auto lost = pod("l", "u3");
  lost.owners = {{.kind = "Pod", .name = "x", .uid = "x", .api_version = "v1"}};
  kept.inventory.take(Pods{Pods::Kind::set, {lost}});
  EXPECT_FALSE(clear());
  lost.phase = kubeapi::PodPhase::succeeded;
  kept.inventory.take(Pods{Pods::Kind::set, {lost}});
  EXPECT_TRUE(clear()) << "it is no work of any job";
}

TEST(Inventory, knows_the_gpus_of_nodes) {
  Kept kept;
  using Nodes = Change<kubeapi::Node>;
  kubeapi::Node node;
  node.name = "n1";
  node.uid = "n";
  node.labels = {{"nvidia.com/gpu.product", "A100"}, {"zone", "b"}};
  node.capacity = {{"cpu", 8}, {"nvidia.com/gpu", 4}};
  kept.inventory.take(Nodes{Nodes::Kind::all, {node}});
  const auto seen = kept.inventory.seen(kept.roots);
  ASSERT_EQ(seen.nodes.size(), 1u);
  EXPECT_EQ(seen.nodes[0].gpu_count, 4);
  EXPECT_EQ(seen.nodes[0].gpu_labels.size(), 1u);
  EXPECT_EQ(kept.inventory.node_names(), NodeNames{"n1"});
}

}  // namespace
}  // namespace assay::cluster
