// SPDX-License-Identifier: Apache-2.0
#include "kubernetes/job_pod.h"

#include <csignal>
#include <fmt/format.h>

#include <gtest/gtest.h>

namespace assay::launch {
namespace {

using State = JobPod::State;
const std::string kId(64, 'c');

JobPod pod(const std::string& status) {
  const auto read = read_job_pod(fmt::format(
      R"({{"items": [{{"metadata": {{"name": "old", "creationTimestamp": "2026-01-31T12:00:00Z"}}}},
          {{"metadata": {{"name": "assay-s-1-x", "creationTimestamp": "2026-01-31T12:00:01Z"}},
            "spec": {{"nodeName": "n1"}}, "status": {}}}]}})",
      status));
  EXPECT_TRUE(read);
  EXPECT_EQ(read->name, "assay-s-1-x");
  EXPECT_EQ(read->node, "n1");
  return *read;
}

JobPod container(const std::string& state) {
  return pod(fmt::format(
      R"({{"containerStatuses": [{{"containerID": "docker://{}", "state": {}}}]}})", kId, state));
}

JobPod ended(int code, const std::string& reason) {
  return container(fmt::format(R"({{"terminated": {{"exitCode": {}, "reason": "{}",
    "startedAt": "2026-01-31T12:00:02Z", "finishedAt": "2026-01-31T12:00:04Z"}}}})",
                               code, reason));
}

TEST(JobPod, is_not_there_yet) {
  EXPECT_EQ(read_job_pod(R"({"items": []})")->state, State::absent);
  EXPECT_FALSE(read_job_pod("[]"));
  EXPECT_FALSE(read_job_pod("no"));
}

TEST(JobPod, is_the_one_that_was_started_and_no_later_one) {
  const std::string list = R"({"items": [
    {"metadata": {"name": "new", "creationTimestamp": "2026-01-31T12:00:01Z"}},
    {"metadata": {"name": "old", "creationTimestamp": "2026-01-31T12:00:00Z",
                  "deletionTimestamp": "2026-01-31T12:00:01Z"}}]})";
  EXPECT_EQ(read_job_pod(list)->name, "new");
  EXPECT_FALSE(read_job_pod(list)->deleted);
  EXPECT_EQ(read_job_pod(list, "old")->name, "old");
  EXPECT_TRUE(read_job_pod(list, "old")->deleted);
  EXPECT_EQ(read_job_pod(list, "other")->state, State::absent);
}

TEST(JobPod, tells_long_reasons_in_whole_characters) {
  std::string message;
  for (int i = 0; i < 400; ++i) message += "\xc3\xa9";
  const auto image =
      container(fmt::format(R"({{"waiting": {{"reason": "x", "message": "{}"}}}})", message));
  EXPECT_EQ(image.trouble, "x: " + message.substr(0, 500));
  const auto shifted =
      container(fmt::format(R"({{"waiting": {{"reason": "x", "message": "-{}"}}}})", message));
  EXPECT_EQ(shifted.trouble, "x: -" + message.substr(0, 498));
}

TEST(JobPod, waits_and_says_for_what) {
  const auto unschedulable = pod(R"({"phase": "Pending", "conditions": [{"type": "PodScheduled",
    "status": "False", "reason": "Unschedulable", "message": "0/1 nodes: 1 Insufficient cpu."}]})");
  EXPECT_EQ(unschedulable.state, State::waiting);
  EXPECT_EQ(unschedulable.trouble, "Unschedulable: 0/1 nodes: 1 Insufficient cpu.");
  const auto creating = container(R"({"waiting": {"reason": "ContainerCreating"}})");
  EXPECT_EQ(creating.state, State::waiting);
  EXPECT_EQ(creating.trouble, "ContainerCreating");
}

TEST(JobPod, will_never_run) {
  const auto image =
      container(R"({"waiting": {"reason": "ErrImagePull", "message": "not found"}})");
  EXPECT_EQ(image.state, State::hopeless);
  EXPECT_EQ(image.trouble, "ErrImagePull: not found");
  const auto refused = pod(R"({"phase": "Failed", "reason": "OutOfcpu", "message": "no room"})");
  EXPECT_EQ(refused.state, State::hopeless);
  EXPECT_EQ(refused.trouble, "OutOfcpu: no room");
  const auto command = ended(127, "ContainerCannotRun");
  EXPECT_EQ(command.state, State::hopeless);
}

TEST(JobPod, runs_in_a_container) {
  const auto running = container(R"({"running": {"startedAt": "2026-01-31T12:00:02Z"}})");
  EXPECT_EQ(running.state, State::running);
  EXPECT_EQ(running.container_id, kId);
  EXPECT_EQ(format_utc(running.started.value()), "2026-01-31T12:00:02.000Z");
}

TEST(JobPod, ends_as_any_other_run_does) {
  const auto done = ended(0, "Completed");
  EXPECT_EQ(done.state, State::ended);
  EXPECT_EQ(*done.ended - *done.started, std::chrono::seconds(2));
  EXPECT_EQ(exit_of(done, std::nullopt).code, 0);
  EXPECT_EQ(exit_of(done, std::nullopt).detail, "exited with code 0");
  EXPECT_EQ(exit_of(ended(3, "Error"), std::nullopt).code, 3);
  const Exit killed = exit_of(ended(137, "OOMKilled"), 64'000'000);
  EXPECT_TRUE(killed.oom_killed);
  EXPECT_EQ(killed.signal, SIGKILL);
  EXPECT_NE(killed.detail.find("out of memory"), std::string::npos);
}

TEST(JobPod, thrown_out_says_why) {
  const auto evicted =
      pod(fmt::format(R"({{"phase": "Failed", "reason": "Evicted", "message": "low on memory",
    "containerStatuses": [{{"containerID": "docker://{}",
                            "state": {{"terminated": {{"exitCode": 137, "reason": "Error"}}}}}}]}})",
                      kId));
  EXPECT_EQ(evicted.state, State::ended);
  EXPECT_EQ(exit_of(evicted, std::nullopt).detail,
            "killed by SIGKILL; the cluster says: Evicted: low on memory");
}

TEST(JobPod, is_not_made_for_a_reason) {
  EXPECT_EQ(why_no_pod(R"({"items": [
    {"type": "Normal", "reason": "SuccessfulCreate", "message": "made"},
    {"type": "Warning", "reason": "FailedCreate", "message": "exceeded quota: q"}]})"),
            "exceeded quota: q");
  EXPECT_EQ(why_no_pod(R"({"items": null})"), "");
  EXPECT_EQ(why_no_pod("no"), "");
}

}  // namespace
}  // namespace assay::launch
