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

std::string error_of(const NodeOffer& offer, const JobSettings& settings = {}) {
  const auto chosen = choose_node(offer, {}, settings);
  return chosen ? "" : chosen.error().message;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(NodeChoice, takes_the_one_with_the_fewest_pods) {
  NodeOffer offer = {.nodes = {node("n1"), node("n2")}, .agents = {agent("n1"), agent("n2")}};
  EXPECT_EQ(choose_node(offer, {}, {})->node, "n1");
  offer.pods = {pod("n1", 0)};
  EXPECT_EQ(choose_node(offer, {}, {})->node, "n2");
  EXPECT_EQ(choose_node(offer, {}, {})->agent, "agent-n2");
}

TEST(NodeChoice, takes_one_with_enough_free_gpus_whatever_else_is_there) {
  const NodeOffer offer = {.nodes = {node("n1"), node("n2")},
                           .agents = {agent("n1"), agent("n2")},
                           .pods = {pod("n1", 1), pod("n2", 0), pod("n2", 0)}};
  EXPECT_EQ(choose_node(offer, with_gpus("2"), {})->node, "n2");
  EXPECT_EQ(choose_node(offer, with_gpus("1"), {})->node, "n1");
  EXPECT_EQ(choose_node(offer, with_gpus("8"), {})->node, "n1") << "the scheduler says why not";
}

TEST(NodeChoice, leaves_out_nodes_that_take_no_pods_or_have_no_agent) {
  NodeOffer offer = {.nodes = {node("n1"), node("n2"), node("n3")},
                     .agents = {agent("n1"), agent("n3")}};
  offer.nodes[0].unschedulable = true;
  EXPECT_EQ(choose_node(offer, {}, {})->node, "n3");
}

TEST(NodeChoice, leaves_out_nodes_that_are_kept_for_others) {
  NodeOffer offer = {.nodes = {node("n1"), node("n2")}, .agents = {agent("n1"), agent("n2")}};
  offer.nodes[0].taints = {{"node-role.kubernetes.io/master", "NoSchedule"}};
  EXPECT_EQ(choose_node(offer, {}, {})->node, "n2");
  offer.nodes[1].taints = {{"nvidia.com/gpu", "NoSchedule"}};
  EXPECT_EQ(choose_node(offer, with_gpus("1"), {})->node, "n2") << "it asks for what they are for";
  EXPECT_TRUE(has(error_of(offer), "n2 is kept for others by its taint nvidia.com/gpu"));
  offer.nodes[0].taints[0].effect = "PreferNoSchedule";
  EXPECT_EQ(choose_node(offer, {}, {})->node, "n1");
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
  EXPECT_TRUE(has(error_of(offer), "no agent of Assay that is ready on n1, n2"));
  EXPECT_TRUE(has(error_of(offer), "kubectl apply -k deploy/kubernetes"));
  offer.agents = {agent("n1")};
  offer.agents[0].ready = false;
  EXPECT_TRUE(has(error_of(offer), "no agent of Assay"));
  offer.nodes[0].ready = offer.nodes[1].ready = false;
  EXPECT_TRUE(has(error_of(offer), "is ready and takes pods"));
}

TEST(NodeChoice, by_an_agents_address_is_that_agents_node) {
  NodeOffer offer = {.nodes = {node("n1"), node("n2")}, .only = "n2"};
  JobSettings settings;
  settings.agent_url = "http://10.0.0.7:9410";
  const auto chosen = choose_node(offer, {}, settings);
  EXPECT_EQ(chosen->node, "n2");
  EXPECT_EQ(chosen->agent, "");
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
