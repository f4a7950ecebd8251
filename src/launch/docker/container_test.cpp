// SPDX-License-Identifier: Apache-2.0
#include "docker/container.h"

#include "docker/container_app.h"
#include "process/testing.h"

#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

namespace assay::launch {
namespace {

Request example() {
  Request request;
  request.session_id = "20260131-1";
  request.run = 2;
  request.target.image = "waggle/app:1";
  request.target.command = {"--fast"};
  return request;
}

Owner somebody() {
  return {7, 8, 9, "boot"};
}

Json body(const Request& request, const DockerArgs& args = {}, const ImageInfo& image = {}) {
  return container_body(request, args, image, somebody(), "");
}

bool has(const Json& list, const Json& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

TEST(ContainerBody, has_the_image_its_arguments_and_our_labels) {
  const Json json = body(example());
  EXPECT_EQ(json["Image"], "waggle/app:1");
  EXPECT_EQ(json["Cmd"], Json({"--fast"}));
  EXPECT_EQ(json["Labels"], Json({{"assay.session", "20260131-1"},
                                  {"assay.run", "2"},
                                  {"assay.owner", "7.8.9.boot"},
                                  {"assay.machine", machine_name(somebody())}}));
  EXPECT_NE(machine_name(somebody()), "");
  EXPECT_EQ(json["HostConfig"]["LogConfig"]["Type"], "none");
  EXPECT_FALSE(json["HostConfig"].contains("Memory"));
  EXPECT_FALSE(json["HostConfig"].contains("CgroupParent"));
}

TEST(ContainerBody, without_arguments_the_image_decides) {
  Request request = example();
  request.target.command.clear();
  EXPECT_FALSE(body(request).contains("Cmd"));
}

TEST(ContainerBody, has_the_limits_and_no_swap_beyond_them) {
  Request request = example();
  request.target.limits.cpus = 1.5;
  request.target.limits.memory_bytes = 1000;
  request.target.limits.pids = 20;
  request.target.limits.gpus = "0,1";
  const Json host = body(request)["HostConfig"];
  EXPECT_EQ(host["NanoCpus"], 1'500'000'000);
  EXPECT_EQ(host["Memory"], 1000);
  EXPECT_EQ(host["MemorySwap"], 1000);
  EXPECT_EQ(host["PidsLimit"], 20);
  EXPECT_EQ(host["DeviceRequests"][0]["DeviceIDs"], Json({"0", "1"}));
}

TEST(ContainerBody, gives_gpus_by_number_or_all) {
  Request request = example();
  request.target.limits.gpus = "all";
  EXPECT_EQ(body(request)["HostConfig"]["DeviceRequests"][0]["Count"], -1);
  request.target.limits.gpus = "2";
  EXPECT_EQ(body(request)["HostConfig"]["DeviceRequests"][0]["Count"], 2);
}

TEST(ContainerBody, mounts_what_the_app_finds_beside_itself) {
  const testing::TempFolder folder;
  folder.write("data/one.jpg", "x");
  Request request = example();
  request.dataset = folder.path() / "data";
  request.socket = "/run/hooks/live_metrics.sock";
  request.data_config = "/s/run-1/data-config.json";
  request.published = "/s/run-1/published";
  request.client_library = "/usr/share/assay/python";
  const Json json = body(request);
  const Json& mounts = json["HostConfig"]["Mounts"];
  const auto bind = [](const std::string& source, const char* target, bool read_only) {
    Json mount = {{"Type", "bind"}, {"Target", target}, {"Source", source}};
    if (read_only) mount["ReadOnly"] = true;
    return mount;
  };
  EXPECT_TRUE(has(mounts, bind((folder.path() / "data").native(), "/data", true))) << mounts;
  EXPECT_TRUE(has(mounts, bind("/run/hooks", "/metrics", true))) << mounts;
  EXPECT_TRUE(has(mounts, bind("/usr/share/assay/python", "/assay", true)));
  EXPECT_TRUE(has(mounts, bind("/s/run-1/data-config.json", "/run/waggle/data-config.json", true)));
  EXPECT_TRUE(has(mounts, bind("/s/run-1/published", "/run/assay/published", false)));
  for (const auto* variable :
       {"ASSAY_DATASET=/data", "ASSAY_SOCKET=/metrics/live_metrics.sock", "PYTHONPATH=/assay",
        "PYWAGGLE_LOG_DIR=/run/assay/published", "ASSAY_RUN=20260131-1/2"}) {
    EXPECT_TRUE(has(json["Env"], variable)) << variable;
  }
}

TEST(ContainerBody, a_dataset_of_one_file_is_in_the_folder) {
  const testing::TempFolder folder;
  folder.write("birds.wav", "x");
  Request request = example();
  request.dataset = folder.path() / "birds.wav";
  EXPECT_EQ(body(request)["HostConfig"]["Mounts"][0]["Target"], "/data/birds.wav");
}

TEST(ContainerBody, an_images_own_python_path_stays) {
  Request request = example();
  request.client_library = "/usr/share/assay/python";
  ImageInfo image;
  image.env["PYTHONPATH"] = "/app";
  for (const auto& variable : body(request, {}, image)["Env"])
    EXPECT_FALSE(variable.get<std::string>().starts_with("PYTHONPATH="));
}

TEST(ContainerBody, what_the_user_mounts_wins_over_ours) {
  Request request = example();
  request.data_config = "/ours.json";
  DockerArgs args;
  args.mounts = {{MountKind::bind, "/theirs.json", kDataConfigFile, false, {}}};
  const Json mounts = body(request, args)["HostConfig"]["Mounts"];
  ASSERT_EQ(mounts.size(), 1U);
  EXPECT_EQ(mounts[0]["Source"], "/theirs.json");
}

TEST(ContainerBody, our_marks_cannot_be_overridden) {
  Request request = example();
  request.target.env = {{"ASSAY_OWNER", "1.2.3"}, {"LEVEL", "2"}};
  const Json env = body(request)["Env"];
  EXPECT_TRUE(has(env, "ASSAY_OWNER=7.8.9.boot"));
  EXPECT_TRUE(has(env, "LEVEL=2"));
}

TEST(ContainerBody, applies_docker_arguments) {
  DockerArgs args;
  args.network = "none";
  args.ipc = "private";
  args.shm_bytes = 64;
  args.devices = {{"/dev/video0", "/dev/cam", "r"}};
  args.entrypoint = "/bin/sh";
  args.hosts = {"a:1.2.3.4"};
  args.ulimits = {{"nofile", 10, 20}};
  const Json json = body(example(), args);
  const Json& host = json["HostConfig"];
  EXPECT_EQ(host["NetworkMode"], "none");
  EXPECT_EQ(host["IpcMode"], "private");
  EXPECT_EQ(host["ShmSize"], 64);
  EXPECT_EQ(host["Devices"][0]["PathInContainer"], "/dev/cam");
  EXPECT_EQ(host["ExtraHosts"], Json({"a:1.2.3.4"}));
  EXPECT_EQ(host["Ulimits"][0]["Hard"], 20);
  EXPECT_EQ(json["Entrypoint"], Json({"/bin/sh"}));
}

TEST(ContainerExit, codes_of_deadly_signals_are_told_as_such) {
  Exit killed;
  set_exit_code(killed, 137);
  EXPECT_EQ(killed.signal, 9);
  EXPECT_FALSE(killed.code);
  Exit asked;  // 130 is what a shell gives back after Ctrl-C, by itself
  set_exit_code(asked, 130);
  EXPECT_EQ(asked.code, 130);
  Exit plain;
  set_exit_code(plain, 3);
  EXPECT_EQ(plain.code, 3);
}

TEST(RunGroup, is_made_in_every_hierarchy_and_keeps_cpu_time) {
  const testing::TempFolder tree;
  tree.write("proc/self/mountinfo",
             "25 20 0:22 / /cg/memory rw,relatime - cgroup cgroup rw,memory\n"
             "26 20 0:23 / /cg/acct rw - cgroup cgroup rw,cpu,cpuacct\n"
             "27 20 0:24 /part /cg/pids rw - cgroup cgroup rw,pids\n"
             "28 20 0:25 / /tmp rw - tmpfs tmpfs rw\n");
  std::filesystem::create_directories(tree.path() / "cg/memory");
  std::filesystem::create_directories(tree.path() / "cg/acct");
  {
    const auto group = RunGroup::make(SysRoot(tree.path()), "assay-x");
    ASSERT_TRUE(group) << group.error().message;
    EXPECT_EQ(group->parent(), "/assay-x");
    std::filesystem::create_directories(tree.path() / "cg/memory/assay-x/id");
    const auto paths = group->paths("id");
    EXPECT_EQ(paths.memory, "/cg/memory/assay-x/id");
    EXPECT_EQ(paths.cpuacct, "/cg/acct/assay-x") << "the engine removes the other too early";
    EXPECT_EQ(paths.cpu, "/cg/acct/assay-x");
    EXPECT_EQ(paths.pids, "") << "only a part is mounted";
  }
  EXPECT_FALSE(std::filesystem::exists(tree.path() / "cg/acct/assay-x"));
  EXPECT_FALSE(std::filesystem::exists(tree.path() / "cg/memory/assay-x"));
}

TEST(ContainerGroups, are_found_by_the_names_that_engines_give) {
  const testing::TempFolder tree;
  tree.write("proc/self/mountinfo", "25 20 0:22 / /cg rw - cgroup2 cgroup2 rw\n");
  std::filesystem::create_directories(tree.path() / "cg/system.slice/docker-id.scope");
  std::filesystem::create_directories(tree.path() / "cg/libpod_parent/libpod-other");
  const SysRoot root(tree.path());
  EXPECT_EQ(container_groups(root, "id").v2, "/cg/system.slice/docker-id.scope");
  EXPECT_TRUE(container_groups(root, "id").unified);
  EXPECT_EQ(container_groups(root, "other").v2, "/cg/libpod_parent/libpod-other");
  EXPECT_TRUE(container_groups(root, "gone").empty());
}

}  // namespace
}  // namespace assay::launch
