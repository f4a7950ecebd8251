// SPDX-License-Identifier: Apache-2.0
#include "dataset/testing/script_server.h"
#include "docker/testing/fake_engine.h"

#include <assay/launch/launcher.h>
#include <gtest/gtest.h>

namespace assay::launch {
namespace {

using testing::Answer;
using testing::FakeEngine;
using testing::ScopedVariable;
using testing::TempFolder;

/// "KEY: what stands in the way" for each obstacle, on an engine that has no image.
std::vector<std::string> obstacles(const Target& target, const std::string& policy) {
  const TempFolder folder;
  folder.write("policy.yaml", policy);
  std::filesystem::permissions(folder.path() / "policy.yaml", std::filesystem::perms::owner_read);
  const FakeEngine fake([](const std::string& request) -> std::optional<Answer> {
    if (request == "GET /version") return Answer{200, R"({"ApiVersion":"1.41","Arch":"amd64"})"};
    return Answer{request.starts_with("GET /images/") ? 404 : 200, "{}"};
  });
  const ScopedVariable host("DOCKER_HOST", "unix://" + fake.endpoint().unix_socket.native());
  const ScopedVariable named("ASSAY_POLICY", (folder.path() / "policy.yaml").native());
  const auto containers = find_containers();
  EXPECT_TRUE(containers) << containers.error().message;
  if (!containers) return {};
  std::vector<std::string> lines;
  for (const auto& obstacle : (*containers)->obstacles(target))
    lines.push_back(obstacle.key + ": " + obstacle.error.message);
  return lines;
}

Target example() {
  Target target;
  target.image = "waggle/app:1";
  return target;
}

bool begins(const std::string& text, const std::string& part) {
  return text.starts_with(part);
}

TEST(Obstacles, of_a_dataset_are_told_under_its_own_key) {
  Target target = example();
  target.dataset = "/etc";
  const auto found = obstacles(target, "gpus: true\n");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_PRED2(begins, found[0], "dataset: dataset '/etc': refused by built-in rule datasets");
}

TEST(Obstacles, are_none_for_what_is_fetched_or_when_only_mounts_from_the_dataset_are_closed) {
  const TempFolder folder;
  Target target = example();
  for (const std::string& dataset :
       {std::string("https://h/etc.zip"), std::string("s3://b/p"), folder.path().native()}) {
    target.dataset = dataset;
    EXPECT_EQ(obstacles(target, "dataset: none\n"), std::vector<std::string>{}) << dataset;
  }
  target.dataset = "https://h/etc.zip";
  EXPECT_EQ(obstacles(target, "datasets: [/srv]\n"), std::vector<std::string>{});
}

TEST(Obstacles, of_variables_and_the_usual_network_are_told_where_they_come_from) {
  Target target = example();
  target.env = {{"COLOUR", "blue"}};
  const auto found = obstacles(target, "env: []\nnetworks: [none]\n");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_PRED2(begins, found[0], "image: no --network: refused by rule networks");
  EXPECT_PRED2(begins, found[1], "env: -e 'COLOUR': refused by rule env");
}

TEST(Obstacles, are_links_on_a_network_that_others_use) {
  Target target = example();
  target.limits.network.rate_bits_per_second = 2e6;
  for (const std::string network : {"container:other", "host", "none"}) {
    target.docker_args = {"--network", network};
    const auto found = obstacles(target, "networks: [host, none, 'container:*']\n");
    ASSERT_EQ(found.size(), 1U) << network;
    EXPECT_PRED2(begins, found[0], "resources: network: with --network " + network + " the app");
  }
}

}  // namespace
}  // namespace assay::launch
