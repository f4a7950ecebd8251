// SPDX-License-Identifier: Apache-2.0
#include "pod_state.h"

#include <gtest/gtest.h>

namespace assay::kubeapi {
namespace {

PodState state_of(const std::string& status) {
  const auto state = read_pod_state(
      R"({"metadata": {"uid": "u", "labels": {"a": "b", "c": 1}}, "status": )" + status + "}");
  EXPECT_TRUE(state) << state.error().message;
  return state.value_or(PodState());
}

std::string container(const std::string& state) {
  return R"({"containerStatuses": [{"state": )" + state + "}]}";
}

TEST(PodState, of_one_that_runs_is_ready) {
  const auto state = state_of(
      R"({"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}],
          "containerStatuses": [{"state": {"running": {}}}]})");
  EXPECT_EQ(state, (PodState{.uid = "u", .labels = {{"a", "b"}}, .ready = true}));
}

TEST(PodState, tells_what_is_waited_for) {
  const auto nowhere = state_of(
      R"({"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False",
          "reason": "Unschedulable", "message": "0/1 nodes are available"}]})");
  EXPECT_EQ(nowhere.trouble, "Unschedulable: 0/1 nodes are available");
  EXPECT_FALSE(nowhere.over) << "a node may come";
  const auto pulling = state_of(container(R"({"waiting": {"reason": "ContainerCreating"}})"));
  EXPECT_EQ(pulling.trouble, "ContainerCreating");
  EXPECT_FALSE(pulling.over || pulling.ready);
}

TEST(PodState, tells_when_waiting_is_of_no_use) {
  const auto missing = state_of(
      container(R"({"waiting": {"reason": "ErrImageNeverPull", "message": "not present"}})"));
  EXPECT_TRUE(missing.over);
  EXPECT_EQ(missing.trouble, "ErrImageNeverPull: not present");
  const auto ended = state_of(container(R"({"terminated": {"exitCode": 4, "reason": "Error"}})"));
  EXPECT_TRUE(ended.over);
  EXPECT_EQ(ended.trouble, "it ended with 4 (Error)");
  const auto crashed = state_of(container(
      R"({"terminated": {"exitCode": 3, "reason": "Error", "message": "loading\nno such model\u001b\n"}})"));
  EXPECT_EQ(crashed.trouble, "it ended with 3 (Error: no such model?)");
  const auto evicted = state_of(R"({"phase": "Failed", "reason": "Evicted"})");
  EXPECT_TRUE(evicted.over);
  EXPECT_EQ(evicted.trouble, "Evicted");
}

TEST(PodState, of_nonsense_is_none) {
  for (const char* text : {"", "[]", "{}", R"({"metadata": []})", R"({"metadata": {"uid": 1}})"})
    EXPECT_FALSE(read_pod_state(text)) << text;
  EXPECT_EQ(state_of(R"({"conditions": {}, "containerStatuses": [1, {"state": []}], "phase": 3})"),
            (PodState{.uid = "u", .labels = {{"a", "b"}}}));
}

}  // namespace
}  // namespace assay::kubeapi
