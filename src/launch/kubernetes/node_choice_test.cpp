// SPDX-License-Identifier: Apache-2.0
#include "kubernetes/node_choice.h"

#include <gtest/gtest.h>

namespace assay::launch {
namespace {

kubeapi::Node node(const std::string& name, const std::string& model = "a100") {
  return {.name = name,
          .labels = {{"model", model}},
          .allocatable = {{"nvidia.com/gpu", 2}},
          .ready = true};
}

kubeapi::PodState agent(const std::string& node) {
  return {.name = "agent-" + node, .node = node, .ready = true};
}

kubeapi::Pod pod(const std::string& node, double gpus) {
  kubeapi::PodContainer container;
  container.extended = {{"nvidia.com/gpu", gpus}};
  return {.node = node, .containers = {container}, .phase = kubeapi::PodPhase::running};
}

Target with_gpus(const std::string& gpus) {
  Target target;
  target.limits.gpus = gpus;
  return target;
}

Target with_cpus(double cpus) {
  Target target;
  target.limits.cpus = cpus;
  return target;
}

Result<ChosenNode> chosen(const NodeOffer& offer, const std::vector<Target>& targets = {Target()},
                          const JobSettings& settings = {}) {
  ASSAY_TRY(const Nodes suitable, suitable_nodes(offer, targets, settings));
  return choose_node(suitable, offer, targets, settings);
}

std::string error_of(const NodeOffer& offer, const JobSettings& settings = {},
                     const std::vector<Target>& targets = {Target()}) {
  const auto found = chosen(offer, targets, settings);
  return found ? "" : found.error().message;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(NodeChoice, takes_the_one_with_the_fewest_pods) {
  NodeOffer offer = {.nodes = {node("n1"), node("n2")}, .agents = {agent("n1"), agent("n2")}};
  EXPECT_EQ(chosen(offer)->node, "n1");
  offer.pods = {pod("n1", 0)};
  EXPECT_EQ(chosen(offer)->node, "n2");
  EXPECT_EQ(chosen(offer)->agent, "agent-n2");
}

TEST(NodeChoice, takes_one_with_enough_free_gpus_whatever_else_is_there) {
  const NodeOffer offer = {.nodes = {node("n1"), node("n2")},
                           .agents = {agent("n1"), agent("n2")},
                           .pods = {pod("n1", 1), pod("n2", 0), pod("n2", 0)}};
  EXPECT_EQ(chosen(offer, {with_gpus("2")})->node, "n2");
  EXPECT_EQ(chosen(offer, {with_gpus("1")})->node, "n1");
}

TEST(NodeChoice, waits_for_gpus_that_are_all_taken_at_present) {
  const NodeOffer offer = {.nodes = {node("n1"), node("n2")},
                           .agents = {agent("n1"), agent("n2")},
                           .pods = {pod("n1", 2), pod("n2", 1), pod("n2", 1)}};
  EXPECT_EQ(chosen(offer, {with_gpus("2")})->node, "n1") << "the scheduler says what it waits for";
}

TEST(NodeChoice, refuses_what_no_node_could_ever_hold) {
  NodeOffer offer = {.nodes = {node("n1"), node("n2")}, .agents = {agent("n1"), agent("n2")}};
  EXPECT_EQ(error_of(offer, {}, {with_gpus("8")}),
            "--gpus 8: the largest of 2 suitable nodes, n1, has 2; ask for less, or add a larger "
            "node");
  offer.nodes[0].allocatable = {{"cpu", 2}};
  offer.nodes[1].allocatable = {{"cpu", 4}};
  EXPECT_EQ(error_of(offer, {}, {with_cpus(8)}),
            "--cpus 8: the largest of 2 suitable nodes, n2, has 4; ask for less, or add a larger "
            "node");
  EXPECT_EQ(error_of(offer, {}, {with_gpus("1")}),
            "--gpus 1: none of 2 suitable nodes has any nvidia.com/gpu; ask for less, or add a "
            "larger node");
  JobSettings settings;
  settings.node_selector = {{"model", "a100"}};
  const auto found = chosen(offer, {with_cpus(8)}, settings);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().kind, ErrorKind::environment);
  EXPECT_EQ(found.error().message,
            "--cpus 8: the largest of 2 suitable nodes with model=a100, n2, has 4; ask for less, "
            "or for other nodes (--node-selector)");
}

TEST(NodeChoice, says_what_keeps_it_from_a_node_that_is_large_enough) {
  NodeOffer offer = {.nodes = {node("n1"), node("n2")}, .agents = {agent("n1")}};
  offer.nodes[0].allocatable = {{"cpu", 2}};
  offer.nodes[1].allocatable = {{"cpu", 16}};
  const auto told = [&] { return error_of(offer, {}, {with_cpus(8)}); };
  EXPECT_EQ(told(),
            "--cpus 8: the only suitable node, n1, has 2; ask for less, or see to n2, which is "
            "large enough but has no agent of Assay that is ready");
  offer.nodes[1].taints = {{"team", "NoSchedule"}};
  EXPECT_TRUE(
      told().ends_with("n2, which is large enough but is kept for others by its taint "
                       "team"))
      << told();
  offer.nodes[1].unschedulable = true;
  EXPECT_TRUE(told().ends_with("but takes no pods")) << told();
  offer.nodes[1].ready = false;
  EXPECT_TRUE(told().ends_with("but is not ready")) << told();
}

TEST(NodeChoice, takes_a_node_that_is_large_enough_whatever_runs_there) {
  NodeOffer offer = {.nodes = {node("n1"), node("n2")},
                     .agents = {agent("n1"), agent("n2")},
                     .pods = {pod("n2", 0), pod("n2", 0)}};
  offer.nodes[0].allocatable = {{"cpu", 2}};
  offer.nodes[1].allocatable = {{"cpu", 8}};
  EXPECT_EQ(chosen(offer, {with_cpus(8)})->node, "n2");
  EXPECT_EQ(chosen(offer, {with_cpus(2)})->node, "n1");
  EXPECT_EQ(chosen(offer, {with_cpus(2), with_cpus(4)})->node, "n2") << "it is for all of them";
  offer.pods[0].containers[0].cores = 7;
  offer.nodes[0].allocatable = {{"cpu", 8}};
  offer.pods.push_back(pod("n1", 0));
  offer.pods.push_back(pod("n1", 0));
  offer.pods.push_back(pod("n1", 0));
  EXPECT_EQ(chosen(offer, {with_cpus(4)})->node, "n1") << "n2 has too few free cores at present";
}

TEST(NodeChoice, of_several_targets_is_kept_from_nodes_that_are_for_gpus_by_any_without) {
  NodeOffer offer = {.nodes = {node("n1")}, .agents = {agent("n1")}};
  offer.nodes[0].taints = {{"nvidia.com/gpu", "NoSchedule"}};
  EXPECT_EQ(chosen(offer, {with_gpus("1"), with_gpus("2")})->node, "n1");
  EXPECT_TRUE(has(error_of(offer, {}, {with_gpus("1"), Target()}), "is kept for others"));
  EXPECT_TRUE(can_take(offer.nodes[0], offer, with_gpus("2"), {}));
  EXPECT_FALSE(can_take(offer.nodes[0], offer, with_gpus("3"), {}));
  EXPECT_FALSE(can_take(offer.nodes[0], offer, Target(), {}));
}

TEST(NodeChoice, leaves_out_nodes_that_take_no_pods_or_have_no_agent) {
  NodeOffer offer = {.nodes = {node("n1"), node("n2"), node("n3")},
                     .agents = {agent("n1"), agent("n3")}};
  offer.nodes[0].unschedulable = true;
  EXPECT_EQ(chosen(offer)->node, "n3");
}

TEST(NodeChoice, leaves_out_nodes_that_are_kept_for_others) {
  NodeOffer offer = {.nodes = {node("n1"), node("n2")}, .agents = {agent("n1"), agent("n2")}};
  offer.nodes[0].taints = {{"node-role.kubernetes.io/master", "NoSchedule"}};
  EXPECT_EQ(chosen(offer)->node, "n2");
  offer.nodes[1].taints = {{"nvidia.com/gpu", "NoSchedule"}};
  EXPECT_EQ(chosen(offer, {with_gpus("1")})->node, "n2") << "it asks for what they are for";
  EXPECT_TRUE(has(error_of(offer), "n2 is kept for others by its taint nvidia.com/gpu"));
  offer.nodes[0].taints[0].effect = "PreferNoSchedule";
  EXPECT_EQ(chosen(offer)->node, "n1");
}

TEST(NodeChoice, says_what_is_missing) {
  JobSettings settings;
  settings.node_selector = {{"model", "orin"}};
  EXPECT_TRUE(has(error_of({}, settings), "the cluster has no node with model=orin"));
  NodeOffer others;
  others.others.resize(2);
  others.others[0].labels = {{"kubernetes.io/hostname", "a"}, {"model", "rpi4"}};
  others.others[1].labels = {{"kubernetes.io/hostname", "b"}, {"model", "xavier"}, {"arch", "arm"}};
  EXPECT_TRUE(has(error_of(others, settings), "model=orin; nodes have model=rpi4, xavier"));
  for (auto& node : others.others) node.labels.erase("model");
  EXPECT_TRUE(has(error_of(others, settings), "model=orin; nodes have the labels arch"));
  NodeOffer offer = {.nodes = {node("n1"), node("n2")}};
  EXPECT_TRUE(has(error_of(offer), "no agent of Assay on n1, n2"));
  EXPECT_TRUE(has(error_of(offer), "kubectl apply -k deploy/kubernetes"));
  offer.agents = {agent("n1")};
  offer.agents[0].ready = false;
  EXPECT_TRUE(has(error_of(offer), "its pod agent-n1 on n1 is not ready"));
  EXPECT_TRUE(has(error_of(offer), "kubectl -n assay logs agent-n1"));
  offer.nodes[0].ready = offer.nodes[1].ready = false;
  EXPECT_TRUE(has(error_of(offer), "is ready and takes pods"));
}

TEST(NodeChoice, by_an_agents_address_is_that_agents_node) {
  NodeOffer offer = {.nodes = {node("n1"), node("n2")}, .only = "n2"};
  JobSettings settings;
  settings.agent_url = "http://10.0.0.7:9410";
  const auto found = chosen(offer, {Target()}, settings);
  EXPECT_EQ(found->node, "n2");
  EXPECT_EQ(found->agent, "");
  offer.only = "n3";
  EXPECT_TRUE(has(error_of(offer, settings), "is on n3, and not on n1, n2"));
}

TEST(NodeKinds, are_the_values_of_a_label) {
  std::vector<kubeapi::Node> nodes = {node("n1", "orin"), node("n2", "a100"), node("n3", "a100"),
                                      node("n4", "xavier")};
  nodes[3].ready = false;
  const auto kinds = kinds_of(nodes, "model", "*");
  ASSERT_EQ(kinds.size(), 2);
  EXPECT_EQ(kinds[0].name, "a100");
  EXPECT_EQ(kinds[0].nodes, (std::vector<std::string>{"n2", "n3"}));
  EXPECT_EQ(kinds_of(nodes, "model", "or*").size(), 1);
  EXPECT_TRUE(kinds_of(nodes, "board", "*").empty());
}

TEST(Node, is_a_device) {
  const Device device = device_of(R"({"metadata": {"name": "n1", "labels":
    {"nvidia.com/gpu.product": "Orin", "node.kubernetes.io/instance-type": "x"}},
    "status": {"nodeInfo": {"machineID": "m", "architecture": "arm64", "osImage": "Debian", "kernelVersion": "6.1"}}})");
  EXPECT_EQ(device.hostname, "n1");
  EXPECT_EQ(device.machine_id, "m");
  EXPECT_EQ(device.model, "Orin");
  EXPECT_EQ(device.kernel, "6.1");
  EXPECT_EQ(device_of("nonsense").hostname, "");
}

}  // namespace
}  // namespace assay::launch
