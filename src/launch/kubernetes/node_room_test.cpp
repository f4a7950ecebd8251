// SPDX-License-Identifier: Apache-2.0
#include "kubernetes/node_room.h"

#include <assay/kubeapi/quantity.h>
#include <gtest/gtest.h>

namespace assay::launch {
namespace {

using kubeapi::Amounts;
using kubeapi::Node;

Node node(const std::string& name, const Amounts& allocatable) {
  return {.name = name, .allocatable = allocatable};
}

Target asking(double cpus, uint64_t memory, const std::string& gpus) {
  Target target;
  if (cpus > 0) target.limits.cpus = cpus;
  if (memory > 0) target.limits.memory_bytes = memory;
  target.limits.gpus = gpus;
  return target;
}

std::string told(const std::vector<Node>& nodes, const Amounts& asked) {
  std::vector<const Node*> all;
  all.reserve(nodes.size());
  for (const auto& one : nodes) all.push_back(&one);
  return room_told(all, {}, asked, "");
}

TEST(NodeRoom, is_asked_for_by_the_limits_of_all_targets_each_at_its_most) {
  EXPECT_TRUE(asked_of({Target()}, {}).empty());
  EXPECT_EQ(asked_of({asking(2, 1000, ""), asking(0.5, 4000, "1")}, {}),
            (Amounts{{"cpu", 2}, {"memory", 4000}, {"nvidia.com/gpu", 1}}));
}

TEST(NodeRoom, is_what_a_node_can_allocate_in_the_clusters_units) {
  const auto holds = [](const char* cpu, const char* memory, const Target& target) {
    return could_hold(node("n1", {{"cpu", kubeapi::parse_quantity(cpu).value()},
                                  {"memory", kubeapi::parse_quantity(memory).value()}}),
                      {}, asked_of({target}, {}));
  };
  EXPECT_TRUE(holds("500m", "1", asking(0.5, 0, "")));
  EXPECT_FALSE(holds("500m", "1", asking(0.501, 0, "")));
  EXPECT_TRUE(holds("3920m", "1", asking(3.92, 0, "")));
  EXPECT_FALSE(holds("4", "1", asking(8, 0, "")));
  EXPECT_TRUE(holds("1", "512Mi", asking(0, 512ULL << 20U, "")));
  EXPECT_FALSE(holds("1", "512Mi", asking(0, (512ULL << 20U) + 1, "")));
  EXPECT_TRUE(holds("1", "16308216Ki", asking(0, 16308216ULL << 10U, "")));
  EXPECT_FALSE(holds("1", "15Gi", asking(0, 16ULL << 30U, "")));
  EXPECT_TRUE(holds("1", "16000000000", asking(0, 16'000'000'000, "")));
  EXPECT_FALSE(holds("64", "64Gi", asking(0, 0, "1"))) << "it has no GPUs at all";
  EXPECT_TRUE(holds("1", "1", Target())) << "nothing is asked for";
}

TEST(NodeRoom, that_a_node_does_not_tell_may_be_there) {
  EXPECT_TRUE(could_hold(node("n1", {}), {}, {{"cpu", 8}}));
}

TEST(NodeRoom, that_is_too_little_is_told_by_the_largest_node) {
  const std::vector<Node> nodes = {node("pole-1", {{"cpu", 2}, {"memory", 8e9}}),
                                   node("pole-3", {{"cpu", 3.92}, {"memory", 4e9}}),
                                   node("pole-4", {{"cpu", 1}, {"memory", 1e9}})};
  EXPECT_EQ(told(nodes, {{"cpu", 8}}),
            "--cpus 8: the largest of 3 suitable nodes, pole-3, has 3.92");
  EXPECT_EQ(told(nodes, {{"cpu", 3.925}}),
            "--cpus 3.925: the largest of 3 suitable nodes, pole-3, has 3.92");
  EXPECT_EQ(told(nodes, {{"memory", 16e9}}),
            "--memory 16 GB: the largest of 3 suitable nodes, pole-1, has 8 GB");
  EXPECT_EQ(told(nodes, {{"memory", 8e9 + 1}}),
            "--memory 8 GB: the largest of 3 suitable nodes, pole-1, has 8000000000 B, which is "
            "less than 8000000001 B");
  EXPECT_EQ(told(nodes, {{"nvidia.com/gpu", 1}}),
            "--gpus 1: none of 3 suitable nodes has any nvidia.com/gpu");
  EXPECT_EQ(told(nodes, {{"cpu", 3}, {"memory", 6e9}}),
            "--cpus 3, --memory 6 GB: none of 3 suitable nodes has all of it, and a session is on "
            "one of them");
}

TEST(NodeRoom, of_the_only_node_is_told_as_such) {
  const std::vector<Node> one = {node("n1", {{"cpu", 4}, {"nvidia.com/gpu", 1}})};
  EXPECT_EQ(told(one, {{"cpu", 8}}), "--cpus 8: the only suitable node, n1, has 4");
  EXPECT_EQ(told(one, {{"nvidia.com/gpu", 2}}), "--gpus 2: the only suitable node, n1, has 1");
  EXPECT_EQ(told({node("n1", {{"cpu", 4}})}, {{"nvidia.com/gpu", 1}}),
            "--gpus 1: the only suitable node, n1, has no nvidia.com/gpu");
}

TEST(NodeRoom, is_less_by_what_daemon_sets_have_there_for_ever) {
  const std::vector<Node> nodes = {node("n1", {{"cpu", 4}}), node("n2", {{"cpu", 3.5}})};
  const auto of = [](const std::string& on, const std::string& maker) {
    kubeapi::Pod pod{.node = on, .phase = kubeapi::PodPhase::running};
    pod.containers = {{.name = "main", .cores = 0.25}};
    pod.owners = {{.kind = maker, .name = "x", .uid = "u", .controller = true}};
    return pod;
  };
  std::vector<kubeapi::Pod> pods = {of("n1", "DaemonSet"), of("n1", "DaemonSet"), of("n1", "Job"),
                                    of("n2", "ReplicaSet")};
  EXPECT_TRUE(could_hold(nodes[0], pods, {{"cpu", 3.5}}));
  EXPECT_FALSE(could_hold(nodes[0], pods, {{"cpu", 3.6}}));
  EXPECT_TRUE(could_hold(nodes[1], pods, {{"cpu", 3.5}})) << "what else runs there may end";
  EXPECT_EQ(room_told({nodes.data()}, pods, {{"cpu", 4}}, ""),
            "--cpus 4: the only suitable node, n1, has 3.5 beside its DaemonSets");
  pods[0].phase = kubeapi::PodPhase::failed;
  pods[1].deleted = Timestamp();
  EXPECT_TRUE(could_hold(nodes[0], pods, {{"cpu", 4}})) << "these go";
}

}  // namespace
}  // namespace assay::launch
