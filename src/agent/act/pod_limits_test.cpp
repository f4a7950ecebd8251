// SPDX-License-Identifier: Apache-2.0
#include "act/pod_limits.h"

#include "act/limits.h"
#include "testing/api_server.h"
#include "testing/machine.h"

#include <boost/asio/co_spawn.hpp>
#include <optional>

#include <gtest/gtest.h>

namespace assay::agent {
namespace {

namespace asio = boost::asio;
using kubeapi::testing::answer;
using kubeapi::testing::ApiServer;

constexpr const char* kPod = R"({"spec": {"containers": [{"name": "main", "resources":
    {"limits": {"cpu": "1"}}}]}, "status": {"qosClass": "Burstable",
    "containerStatuses": [{"containerID": "docker://11"}]}})";
const std::string kTaken = answer(200, "{}");
const std::string kTooOld =
    answer(404, R"({"message": "the server could not find the requested resource"})");

/// A node with one pod, whose group a test's cluster may change as a kubelet does.
class PodLimitsTest : public ::testing::Test {
 protected:
  PodLimitsTest() {
    set("100000 100000");
    machine_.write("/cg/pod/cpu.max", "140000 100000");
    app_.group = {.kind = GroupKind::container, .id = "11", .runtime = "docker", .pod_uid = "u1"};
    app_.pod = "train-1";
    app_.name_space = "lab";
    app_.container = "main";
  }
  void set(const std::string& limit) const { machine_.write("/cg/pod/main/cpu.max", limit); }
  /// The quota only: a plain file is not cut where something shorter is written into it.
  std::string quota_of(const std::string& path) const {
    const std::string text = *machine_.root().read(path);
    return text.substr(0, text.find(' '));
  }
  std::string limit() const { return quota_of("/cg/pod/main/cpu.max"); }
  std::string limit_of_pod() const { return quota_of("/cg/pod/cpu.max"); }

  /// Asks for so many cores through that cluster.
  Result<void> change(const ApiServer& server, double cores) {
    asio::io_context loop;
    PodLimits pods(server.access(), loop,
                   [this](const std::string& text) { told_.push_back(text); });
    Means means{.root = machine_.root(), .docker = {}, .pods = &pods};
    means.node_patience = patience_;
    means.restores = restores_;
    probes::CgroupPaths group;
    group.unified = true;
    group.v2 = "/cg/pod/main";
    probes::GroupLimits now;
    now.cpu_quota_seconds = 0.1;
    std::optional<Result<void>> result;
    asio::co_spawn(loop, change_limits(means, app_, group, now, {.cores = cores}),
                   [&](const std::exception_ptr& error, Result<void> made) {
                     if (error) std::rethrow_exception(error);
                     result = std::move(made);
                   });
    loop.run();
    return *result;
  }

  const testing::Machine machine_;
  AppIdentity app_;
  Milliseconds patience_{15'000};
  bool restores_ = false;
  std::vector<std::string> told_;
};

TEST_F(PodLimitsTest, are_changed_by_the_cluster_and_carried_out_by_its_node) {
  const ApiServer server({answer(200, kPod), kTaken}, [this](const std::string& request) {
    if (request.rfind("PATCH", 0) == 0) set("150000 100000\n");
  });
  const auto made = change(server, 1.5);
  EXPECT_TRUE(made) << made.error().message;
  EXPECT_NE(server.asked().at(1).find("\"1500m\""), std::string::npos);
  EXPECT_TRUE(told_.empty());
}

TEST_F(PodLimitsTest, that_no_node_carries_out_are_taken_back) {
  patience_ = Milliseconds(1);
  const ApiServer server({answer(200, kPod), kTaken, kTaken});
  const auto made = change(server, 1.5);
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find("did not carry it out"), std::string::npos);
  EXPECT_FALSE(made.error().temporary);
  ASSERT_EQ(server.asked().size(), 3U);
  EXPECT_NE(server.asked()[2].find("{\"cpu\":\"1\"}"), std::string::npos);
}

TEST_F(PodLimitsTest, that_the_cluster_cannot_change_are_written_into_the_group) {
  const ApiServer server({answer(200, kPod), kTooOld});
  const auto made = change(server, 1.5);
  EXPECT_TRUE(made) << made.error().message;
  EXPECT_EQ(limit(), "150000");
  EXPECT_EQ(limit_of_pod(), "150000") << "what holds its containers has room";
  ASSERT_EQ(told_.size(), 1U);
  EXPECT_NE(told_[0].find("train-1 is limited by its control group"), std::string::npos)
      << told_[0];
}

TEST_F(PodLimitsTest, of_which_nobody_knows_whether_they_were_set_back_are_told_so) {
  patience_ = Milliseconds(1);
  const ApiServer server({answer(200, kPod), kTaken, answer(503, "{}")});
  const auto made = change(server, 1.5);
  ASSERT_FALSE(made);
  EXPECT_TRUE(made.error().temporary) << made.error().message;
}

TEST_F(PodLimitsTest, that_are_put_back_need_no_node_at_once) {
  restores_ = true;
  const ApiServer server({answer(200, kPod), kTaken});
  EXPECT_TRUE(change(server, 1.5));
  EXPECT_EQ(server.asked().size(), 2U);
}

TEST_F(PodLimitsTest, count_as_carried_out_when_systemd_has_rounded_them) {
  patience_ = Milliseconds(1);
  set("63000 100000");
  const ApiServer server({answer(200, kPod), kTaken});
  EXPECT_TRUE(change(server, 0.625));
}

TEST_F(PodLimitsTest, that_go_down_leave_the_pod_what_it_has) {
  const ApiServer server({answer(200, kPod), kTooOld});
  ASSERT_TRUE(change(server, 0.25));
  EXPECT_EQ(limit(), "25000");
  EXPECT_EQ(limit_of_pod(), "140000") << "a container that is started anew needs it";
}

TEST_F(PodLimitsTest, that_go_up_leave_the_others_of_the_pod_what_they_have) {
  machine_.write("/cg/pod/other/cpu.max", "40000 100000");
  machine_.write("/cg/pod/free/cpu.max", "max 100000");
  const ApiServer server({answer(200, kPod), kTooOld, answer(200, kPod), kTooOld});
  ASSERT_TRUE(change(server, 0.9));
  EXPECT_EQ(limit_of_pod(), "140000") << "there is room";
  ASSERT_TRUE(change(server, 1.5));
  EXPECT_EQ(limit_of_pod(), "190000");
}

TEST_F(PodLimitsTest, that_the_cluster_refuses_stay) {
  const ApiServer server(
      {answer(200, kPod), answer(422, R"({"message": "must be less than cpu limit"})")});
  const auto made = change(server, 0.5);
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find("must be less than cpu limit"), std::string::npos);
  EXPECT_EQ(limit(), "100000");
}

TEST_F(PodLimitsTest, of_a_pod_without_a_name_wait_for_it) {
  app_.pod.clear();
  const ApiServer server({});
  const auto made = change(server, 0.5);
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find("not known yet"), std::string::npos);
  EXPECT_EQ(limit(), "100000");
}

}  // namespace
}  // namespace assay::agent
