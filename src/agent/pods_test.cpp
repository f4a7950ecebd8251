// SPDX-License-Identifier: Apache-2.0
#include "pods.h"

#include "testing/machine.h"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace assay::agent {
namespace {

using kubeapi::Pod;
using kubeapi::PodChange;
using Kind = PodChange::Kind;

Pod pod(const std::string& uid, const std::string& container_id) {
  return {.name = "train-" + uid,
          .name_space = "lab",
          .uid = uid,
          .labels = {{"app", "train"}},
          .annotations = {{"assay.goals", "fps >= 10"}, {"other", "x"}},
          .containers = {{"fetch", "99", "lab/fetch:1"}, {"main", container_id, "lab/train:2"}}};
}

AppIdentity container(const std::string& id, const std::string& pod_uid) {
  AppIdentity identity;
  identity.group = {
      .kind = GroupKind::container, .id = id, .runtime = "docker", .pod_uid = pod_uid};
  identity.image = "sha256:11";
  return identity;
}

TEST(PodTable, names_a_container_by_its_id) {
  PodTable table;
  table.take({Kind::all, {pod("u1", "11"), pod("u2", "22")}});
  AppIdentity identity = container("22", "a uid of a file");
  ASSERT_TRUE(table.name(identity));
  EXPECT_EQ(identity.pod, "train-u2");
  EXPECT_EQ(identity.name_space, "lab");
  EXPECT_EQ(identity.container, "main");
  EXPECT_EQ(identity.name, "train-u2/main");
  EXPECT_EQ(identity.image, "lab/train:2");
  EXPECT_EQ(identity.labels,
            (std::map<std::string, std::string>{{"app", "train"}, {"assay.goals", "fps >= 10"}}));
}

TEST(PodTable, what_holds_a_pod_together_has_its_name_and_keeps_its_own_image) {
  PodTable table;
  table.take({Kind::all, {pod("u1", "11")}});
  AppIdentity identity = container("55", "u1");
  identity.container = "POD";
  ASSERT_TRUE(table.name(identity));
  EXPECT_EQ(identity.pod, "train-u1");
  EXPECT_EQ(identity.container, "POD");
  EXPECT_EQ(identity.image, "sha256:11");
}

TEST(PodTable, takes_away_goals_that_a_pod_no_longer_has) {
  PodTable table;
  table.take({Kind::all, {pod("u1", "11")}});
  AppIdentity identity = container("11", "u1");
  identity.labels = {{"assay.note", "of the image"}};
  ASSERT_TRUE(table.name(identity));
  Pod without = pod("u1", "11");
  without.annotations.clear();
  table.take({Kind::set, {without}});
  ASSERT_TRUE(table.name(identity));
  without.labels.clear();
  table.take({Kind::set, {without}});
  ASSERT_TRUE(table.name(identity));
  EXPECT_EQ(identity.labels, (std::map<std::string, std::string>{{"assay.note", "of the image"}}));
}

TEST(PodTable, keeps_up_with_what_changes) {
  PodTable table;
  table.take({Kind::all, {pod("u1", "11")}});
  table.take({Kind::set, {pod("u2", "")}});
  AppIdentity started = container("22", "");
  EXPECT_FALSE(table.name(started));
  table.take({Kind::set, {pod("u2", "22")}});
  EXPECT_TRUE(table.name(started));
  table.take({Kind::gone, {pod("u1", "11")}});
  AppIdentity gone = container("11", "u1");
  EXPECT_FALSE(table.name(gone));
  EXPECT_EQ(table.size(), 1U);
  table.take({Kind::all, {}});
  EXPECT_EQ(table.size(), 0U);
}

TEST(PodTable, a_container_without_an_id_yet_is_nobodys) {
  PodTable table;
  table.take({Kind::all, {pod("u1", "")}});
  AppIdentity stranger = container("77", "");
  EXPECT_FALSE(table.name(stranger));
  AppIdentity service;
  EXPECT_FALSE(table.name(service));
}

TEST(PodTable, apps_that_run_get_their_names) {
  const testing::Machine machine;
  const ManualClock clock(from_unix_ns(1'000'000'000));
  LiveTable table(machine.root(), clock, {});
  Reports reports(clock, table, std::chrono::seconds(60));
  const std::string id(64, 'a');
  const std::string path = "/kubepods/podu1/" + id;
  machine.make_group(path, 1, 1000);
  table.group_appeared(path);
  PodTable pods;
  pods.take({Kind::all, {pod("u1", id)}});
  name_apps(pods, table, reports);
  ASSERT_NE(table.find(path), nullptr);
  EXPECT_EQ(table.find(path)->identity().pod, "train-u1");
  EXPECT_EQ(table.find(path)->identity().container, "main");
}

TEST(Pods, are_followed_only_where_there_is_a_cluster) {
  ::unsetenv("KUBERNETES_SERVICE_HOST");
  boost::asio::io_context loop;
  const auto nobody = [](const std::string&) {};
  const auto none = Pods::follow(
      {}, "n1", loop, [] {}, nobody);
  ASSERT_TRUE(none);
  EXPECT_EQ(*none, nullptr);
  EXPECT_FALSE(Pods::follow(
      {.kubeconfig = "/nowhere/config"}, "n1", loop, [] {}, nobody));
  const auto off = Pods::follow(
      {.enabled = false, .kubeconfig = "/nowhere/config"}, "n1", loop, [] {}, nobody);
  ASSERT_TRUE(off);
  EXPECT_EQ(*off, nullptr);
}

TEST(Pods, do_not_wait_for_a_program_that_logs_in) {
  std::string name = (std::filesystem::temp_directory_path() / "assay-pods-XXXXXX").native();
  const std::filesystem::path folder = ::mkdtemp(name.data());
  std::ofstream(folder / "config") << R"(
current-context: a
contexts: [{name: a, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "http://127.0.0.1:1"}}]
users: [{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: sleep,
  args: ["1000"]}}}]
)";
  boost::asio::io_context loop;
  const auto begin = std::chrono::steady_clock::now();
  {
    const auto pods = Pods::follow(
        {.kubeconfig = folder / "config"}, "n1", loop, [] {}, [](const std::string&) {});
    EXPECT_TRUE(pods) << pods.error().message;
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace assay::agent
