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
    {"limits": {"cpu": "1"}}}]}, "status": {"qosClass": "Burstable"}})";
const std::string kTaken = answer(200, "{}");

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
    probes::CgroupPaths group;
    group.unified = true;
    group.v2 = "/cg/pod/main";
    probes::GroupLimits now;
    now.cpu_quota_seconds = 0.1;
    std::optional<Result<void>> result;
    asio::co_spawn(loop, change_limits(means, app_, group, now, {.cores = cores}),
                   [&](const std::exception_ptr&, Result<void> made) { result = std::move(made); });
    loop.run();
    return *result;
  }

  const testing::Machine machine_;
  AppIdentity app_;
  Milliseconds patience_{15'000};
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
  const ApiServer server({answer(200, kPod), kTaken, answer(200, kPod), kTaken});
  const auto made = change(server, 1.5);
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find("did not carry it out"), std::string::npos);
  ASSERT_EQ(server.asked().size(), 4U);
  EXPECT_NE(server.asked()[3].find("\"1000m\""), std::string::npos);
}

TEST_F(PodLimitsTest, that_the_cluster_cannot_change_are_written_into_the_group) {
  const ApiServer server({answer(200, kPod), answer(404, "{}")});
  const auto made = change(server, 1.5);
  EXPECT_TRUE(made) << made.error().message;
  EXPECT_EQ(limit(), "150000");
  EXPECT_EQ(limit_of_pod(), "190000") << "what holds its containers has room";
  ASSERT_EQ(told_.size(), 1U);
  EXPECT_NE(told_[0].find("train-1 is limited by its control group"), std::string::npos)
      << told_[0];
}

TEST_F(PodLimitsTest, that_go_down_leave_others_in_the_pod_what_they_have) {
  const ApiServer server({answer(200, kPod), answer(404, "{}")});
  ASSERT_TRUE(change(server, 0.25));
  EXPECT_EQ(limit(), "25000");
  EXPECT_EQ(limit_of_pod(), "65000");
}

TEST_F(PodLimitsTest, that_cannot_be_changed_leave_the_pod_as_it_was) {
  machine_.remove_group("/pod/main");
  const ApiServer server({answer(200, kPod), answer(404, "{}")});
  EXPECT_FALSE(change(server, 1.5));
  EXPECT_EQ(limit_of_pod(), "140000");
}

TEST(PodChange, is_none_where_something_has_no_limit) {
  probes::GroupLimits limited;
  limited.cpu_quota_seconds = 0.1;
  limited.memory = 5000;
  const LimitChange change{.cores = 2, .memory_bytes = 7000};
  EXPECT_EQ(pod_change({}, limited, change), LimitChange());
  EXPECT_EQ(pod_change(limited, {}, change), LimitChange());
  EXPECT_EQ(pod_change(limited, limited, {.cores = 0, .memory_bytes = 0}), LimitChange());
  EXPECT_EQ(pod_change(limited, limited, change), change);
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
