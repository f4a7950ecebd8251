// SPDX-License-Identifier: Apache-2.0
#include "docker/needs.h"

#include "process/testing.h"

#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

namespace assay::launch {
namespace {

Need broker() {
  Need need;
  need.name = "broker";
  need.image = "rabbitmq:3";
  return need;
}

DockerArgs on_network(const std::string& network) {
  DockerArgs args;
  args.network = network;
  return args;
}

TEST(NeedBody, joins_the_network_by_its_name_and_publishes_nothing) {
  NeedsRequest request;
  request.session_id = "20260131-1";
  request.run = 2;
  Need need = broker();
  need.command = {"serve", "--all"};
  need.env = {{"COLOUR", "blue"}};
  const Json json = need_body(need, request, {7, 8, 9, "boot"}, "net", {"store:10.0.0.2"});
  EXPECT_EQ(json["Image"], "rabbitmq:3");
  EXPECT_EQ(json["Cmd"], Json({"serve", "--all"}));
  EXPECT_EQ(json["Env"], Json({"ASSAY_OWNER=7.8.9.boot", "ASSAY_RUN=20260131-1/2", "COLOUR=blue"}));
  EXPECT_EQ(json["Labels"]["assay.session"], "20260131-1");
  EXPECT_EQ(json["Labels"]["assay.owner"], "7.8.9.boot");
  EXPECT_EQ(json["HostConfig"]["NetworkMode"], "net");
  EXPECT_EQ(json["HostConfig"]["ExtraHosts"], Json::array({"store:10.0.0.2"}));
  EXPECT_EQ(json["NetworkingConfig"]["EndpointsConfig"]["net"]["Aliases"], Json::array({"broker"}));
  EXPECT_FALSE(json["HostConfig"].contains("PortBindings"));
  EXPECT_FALSE(json["HostConfig"].contains("Mounts"));
}

TEST(NeedBody, without_a_command_the_image_decides) {
  EXPECT_FALSE(need_body(broker(), {}, {7, 8, 9, "boot"}, "net", {}).contains("Cmd"));
}

TEST(RefusedNeeds, are_those_on_a_network_that_nobody_can_join) {
  for (const std::string network : {"host", "none", "container:other"}) {
    const auto refused = refused_needs(default_policy(), on_network(network), {broker()});
    ASSERT_EQ(refused.size(), 1U) << network;
    EXPECT_NE(refused[0].find("--network " + network), std::string::npos) << refused[0];
    EXPECT_TRUE(refused_needs(default_policy(), on_network(network), {}).empty());
  }
  for (const std::string network : {"", "bridge", "lab"})
    EXPECT_TRUE(refused_needs(default_policy(), on_network(network), {broker()}).empty());
}

TEST(RefusedNeeds, are_those_whose_variables_the_policy_refuses) {
  Policy policy = default_policy();
  policy.env = {"APP_*"};
  Need need = broker();
  need.env = {{"APP_MODE", "fast"}};
  EXPECT_TRUE(refused_needs(policy, {}, {need}).empty());
  need.env = {{"LD_PRELOAD", "x"}};
  const auto refused = refused_needs(policy, {}, {need});
  ASSERT_EQ(refused.size(), 1U);
  EXPECT_NE(refused[0].find("broker"), std::string::npos) << refused[0];
  EXPECT_NE(refused[0].find("LD_PRELOAD"), std::string::npos) << refused[0];
}

TEST(ReadySign, names_all_that_is_awaited) {
  Need need = broker();
  EXPECT_EQ(ready_sign(need), "");
  need.ready_port = 5672;
  EXPECT_EQ(ready_sign(need), "port 5672");
  need.ready_log = "started";
  EXPECT_EQ(ready_sign(need), "port 5672 and \"started\" in its log");
}

/// Whether a process with these masks of signals would hear SIGTERM, which is 4000 in them.
bool hears(const std::string& masks) {
  const testing::TempFolder folder;
  folder.write("proc/7/status", "Name:\tapp\n" + masks);
  return hears_sigterm(SysRoot(folder.path()), 7);
}

TEST(HearsSigterm, who_catches_or_awaits_it) {
  EXPECT_TRUE(hears("SigBlk:\t0000000000000000\nSigIgn:\t0\nSigCgt:\t0000000000004002\n"));
  EXPECT_TRUE(hears("SigBlk:\t0000000000004000\nSigIgn:\t0\nSigCgt:\t0000000000000000\n"));
}

TEST(HearsSigterm, not_who_ignores_it_or_never_asked) {
  EXPECT_FALSE(hears("SigBlk:\t0000000000000000\nSigIgn:\t4000\nSigCgt:\t0000000000000000\n"));
  EXPECT_FALSE(hears("SigBlk:\t0000000000010000\nSigIgn:\t0\nSigCgt:\t0000000180003eff\n"));
  EXPECT_FALSE(hears_sigterm(SysRoot("/nonexistent"), 7)) << "it has ended";
}

}  // namespace
}  // namespace assay::launch
