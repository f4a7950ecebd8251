// SPDX-License-Identifier: Apache-2.0
#include "kubernetes/agent_pods.h"

#include <gtest/gtest.h>

namespace assay::launch {
namespace {

using kubeapi::PodState;

std::string told(const std::vector<PodState>& agents) {
  return no_agent_told(agents, {"n1", "n2"}, {});
}

TEST(AgentPods, that_are_nowhere_are_to_be_installed) {
  const std::string text =
      "there is no agent of Assay on n1, n2, and it is the agent that measures; install it with "
      "`kubectl apply -k deploy/kubernetes`, or say where it is (--agent-namespace, --agent)";
  EXPECT_EQ(told({}), text);
  EXPECT_EQ(told({{.name = "agent-3", .node = "n3", .trouble = "ContainerCreating"}}), text)
      << "that of another node";
}

TEST(AgentPods, that_crash_are_told_with_the_way_to_their_log) {
  EXPECT_EQ(
      told({{.name = "agent-1", .node = "n1", .trouble = "CrashLoopBackOff: back-off 40s"}}),
      "no agent of Assay is ready on n1, n2, and it is the agent that measures; its pod "
      "agent-1 on n1 is not ready: CrashLoopBackOff: back-off 40s; see `kubectl -n assay logs "
      "agent-1`");
  for (const char* why : {"", "it ended with 2 (Error)"})
    EXPECT_TRUE(told({{.name = "agent-1", .node = "n1", .trouble = why}})
                    .ends_with("see `kubectl -n assay logs agent-1`"))
        << why;
}

TEST(AgentPods, that_never_ran_have_no_log) {
  const auto pulling =
      told({{.name = "agent-1", .node = "n1", .over = true, .trouble = "ImagePullBackOff"}});
  EXPECT_TRUE(
      pulling.ends_with("agent-1 on n1 is not ready: ImagePullBackOff; see `kubectl -n "
                        "assay describe pod agent-1`"))
      << pulling;
}

TEST(AgentPods, that_no_node_has_yet_may_be_meant_for_another_one) {
  EXPECT_EQ(told({{.name = "agent-3", .node = "n3", .ready = true},
                  {.name = "agent-4", .trouble = "Unschedulable: taint"}}),
            "there is no agent of Assay on n1, n2, and it is the agent that measures; a pod of the "
            "agents, agent-4, has no node yet: Unschedulable: taint (see `kubectl -n assay "
            "describe pod agent-4`); install it with `kubectl apply -k deploy/kubernetes`, or say "
            "where it is (--agent-namespace, --agent)");
  const auto silent = told({{.name = "agent-4"}});
  EXPECT_NE(silent.find("agent-4, has no node yet (see `kubectl -n assay describe pod agent-4`)"),
            std::string::npos)
      << silent;
}

TEST(AgentPods, that_go_on_are_told_before_those_that_an_eviction_left) {
  const PodState evicted{.name = "old", .node = "n1", .over = true, .trouble = "Evicted"};
  const PodState next{.name = "new", .node = "n1", .trouble = "ContainerCreating"};
  const PodState nowhere{.name = "nowhere"};
  for (const auto& agents :
       {std::vector{nowhere, evicted, next}, std::vector{next, evicted, nowhere}})
    EXPECT_NE(told(agents).find("new on n1 is not ready: ContainerCreating"), std::string::npos);
  EXPECT_NE(told({nowhere, evicted}).find("old on n1"), std::string::npos);
}

TEST(AgentPods, that_are_ready_are_found_by_their_node) {
  const std::vector<PodState> agents = {{.name = "old", .node = "n1"},
                                        {.name = "new", .node = "n1", .ready = true}};
  ASSERT_NE(agent_on(agents, "n1"), nullptr);
  EXPECT_EQ(agent_on(agents, "n1")->name, "new");
  EXPECT_EQ(agent_on(agents, "n2"), nullptr);
}

}  // namespace
}  // namespace assay::launch
