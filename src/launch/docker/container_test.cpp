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
  return container_body(request, args, image, somebody());
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
                                  {"assay.machine", machine_name(SysRoot(), somebody())}}));
  EXPECT_NE(machine_name(SysRoot(), somebody()), "");
  EXPECT_EQ(json["HostConfig"]["LogConfig"]["Type"], "none");
  EXPECT_FALSE(json["HostConfig"].contains("Memory"));
}

TEST(ContainerBody, joins_those_who_run_beside_it_after_the_users_own_hosts) {
  Request request = example();
  request.network = "beside";
  request.hosts = {"broker:10.0.0.2"};
  DockerArgs args;
  args.network = "bridge";
  args.hosts = {"broker:10.9.9.9"};
  const Json host = body(request, args)["HostConfig"];
  EXPECT_EQ(host["NetworkMode"], "beside");
  EXPECT_EQ(host["ExtraHosts"], Json({"broker:10.9.9.9", "broker:10.0.0.2"}));
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
  const Json made = body(request, {}, image);
  for (const auto& variable : made["Env"])
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

TEST(ContainerBody, what_the_user_mounts_above_ours_wins_too) {
  Request request = example();
  request.data_config = "/ours.json";
  request.published = "/published";
  DockerArgs args;
  args.mounts = {{MountKind::bind, "/theirs", "/run", false, {}}};
  const Json json = body(request, args);
  ASSERT_EQ(json["HostConfig"]["Mounts"].size(), 1U);
  EXPECT_EQ(json["HostConfig"]["Mounts"][0]["Source"], "/theirs");
  EXPECT_FALSE(has(json["Env"], "PYWAGGLE_LOG_DIR=/run/assay/published"));
}

TEST(ContainerBody, in_what_begins_empty_ours_are_mounted) {
  Request request = example();
  request.data_config = "/ours.json";
  DockerArgs args;
  args.mounts = {{MountKind::tmpfs, "", "/run", false, {}}};
  EXPECT_EQ(body(request, args)["HostConfig"]["Mounts"].size(), 2U);
}

TEST(ContainerBody, a_dataset_behind_a_link_is_mounted_by_its_real_path) {
  const testing::TempFolder folder;
  folder.write("real.wav", "x");
  std::filesystem::create_symlink(folder.path() / "real.wav", folder.path() / "birds.wav");
  Request request = example();
  request.dataset = folder.path() / "birds.wav";
  const Json mount = body(request)["HostConfig"]["Mounts"][0];
  EXPECT_EQ(mount["Source"], std::filesystem::canonical(folder.path() / "real.wav").native());
  EXPECT_EQ(mount["Target"], "/data/birds.wav");
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
    probes::CgroupPaths own;
    own.memory = "/cg/memory/assay-x/id";
    own.cpu = own.cpuacct = "/cg/acct/assay-x/id";
    EXPECT_TRUE(group->is_above(own));
    const auto paths = group->sampled(own);
    EXPECT_EQ(paths.memory, "/cg/memory/assay-x/id");
    EXPECT_EQ(paths.cpu, "/cg/acct/assay-x/id") << "throttling is counted only there";
    EXPECT_EQ(paths.cpuacct, "/cg/acct/assay-x") << "the engine removes the other too early";
    EXPECT_EQ(paths.pids, "") << "only a part is mounted";
    EXPECT_EQ(group->totals(own).cpuacct, "/cg/acct/assay-x");
    EXPECT_EQ(group->totals(own).memory, "/cg/memory/assay-x/id") << "v1 counts OOM kills there";
    EXPECT_EQ(group->sampled({}).memory, "/cg/memory/assay-x") << "the container is gone already";
  }
  EXPECT_FALSE(std::filesystem::exists(tree.path() / "cg/acct/assay-x"));
  EXPECT_FALSE(std::filesystem::exists(tree.path() / "cg/memory/assay-x"));
}

TEST(RunGroup, of_v2_keeps_the_totals_and_leaves_sampling_to_the_containers_own) {
  const testing::TempFolder tree;
  tree.write("proc/self/mountinfo", "25 20 0:22 / /cg rw - cgroup2 cgroup2 rw\n");
  std::filesystem::create_directories(tree.path() / "cg");
  const auto group = RunGroup::make(SysRoot(tree.path()), "assay-x");
  ASSERT_TRUE(group) << group.error().message;
  probes::CgroupPaths own;
  own.unified = true;
  own.v2 = "/cg/assay-x/id";
  EXPECT_TRUE(group->is_above(own));
  EXPECT_EQ(group->sampled(own).v2, "/cg/assay-x/id");
  EXPECT_EQ(group->totals(own).v2, "/cg/assay-x");
  EXPECT_TRUE(group->totals(own).unified);
  own.v2 = "/cg/assay-x-other/id";
  EXPECT_FALSE(group->is_above(own));
}

TEST(RunGroup, that_cannot_be_made_everywhere_is_nowhere) {
  const testing::TempFolder tree;
  tree.write("proc/self/mountinfo",
             "25 20 0:22 / /cg/memory rw - cgroup cgroup rw,memory\n"
             "26 20 0:23 / /cg/missing rw - cgroup cgroup rw,cpuacct\n");
  std::filesystem::create_directories(tree.path() / "cg/memory");
  EXPECT_FALSE(RunGroup::make(SysRoot(tree.path()), "assay-x"));
  EXPECT_FALSE(std::filesystem::exists(tree.path() / "cg/memory/assay-x"));
}

constexpr const char* kId = "0a1b2c3d";
constexpr const char* kV1Mounts =
    "25 20 0:22 / /cg/memory rw - cgroup cgroup rw,memory\n"
    "26 20 0:23 / /cg/acct rw - cgroup cgroup rw,cpu,cpuacct\n"
    "27 20 0:24 / /cg/systemd rw - cgroup cgroup rw,name=systemd\n";
constexpr const char* kV2Mount = "25 20 0:22 / /cg rw - cgroup2 cgroup2 rw\n";

struct Machine {
  Machine(const char* mounts, const std::string& groups,
          std::initializer_list<const char*> folders) {
    tree.write("proc/self/mountinfo", mounts);
    tree.write("proc/7/cgroup", groups);
    for (const auto* folder : folders) std::filesystem::create_directories(tree.path() / folder);
  }
  probes::CgroupPaths groups() const { return container_groups(SysRoot(tree.path()), 7, kId); }

  testing::TempFolder tree;
};

TEST(ContainerGroups, of_v1_are_where_its_process_is_with_either_driver) {
  const Machine plain(kV1Mounts,
                      "4:memory:/custom/0a1b2c3d\n3:cpu,cpuacct:/custom/0a1b2c3d\n"
                      "1:name=systemd:/custom/0a1b2c3d\n",
                      {"cg/memory/custom/0a1b2c3d", "cg/acct/custom/0a1b2c3d"});
  EXPECT_FALSE(plain.groups().unified);
  EXPECT_EQ(plain.groups().memory, "/cg/memory/custom/0a1b2c3d");
  EXPECT_EQ(plain.groups().cpuacct, "/cg/acct/custom/0a1b2c3d");
  const Machine systemd(kV1Mounts,
                        "4:memory:/system.slice/docker-0a1b2c3d.scope\n"
                        "3:cpu,cpuacct:/system.slice/docker-0a1b2c3d.scope\n",
                        {"cg/memory/system.slice/docker-0a1b2c3d.scope",
                         "cg/acct/system.slice/docker-0a1b2c3d.scope"});
  EXPECT_EQ(systemd.groups().memory, "/cg/memory/system.slice/docker-0a1b2c3d.scope");
  EXPECT_EQ(systemd.groups().cpu, "/cg/acct/system.slice/docker-0a1b2c3d.scope");
}

TEST(ContainerGroups, of_v2_are_the_containers_and_not_one_inside_of_it) {
  const Machine docker(kV2Mount, "0::/system.slice/docker-0a1b2c3d.scope\n",
                       {"cg/system.slice/docker-0a1b2c3d.scope"});
  EXPECT_TRUE(docker.groups().unified);
  EXPECT_EQ(docker.groups().v2, "/cg/system.slice/docker-0a1b2c3d.scope");
  const std::string user = "user.slice/user-1000.slice/user@1000.service/user.slice";
  const std::string scope = user + "/libpod-0a1b2c3d.scope";
  const std::string folder = "cg/" + scope + "/container";
  const Machine podman(kV2Mount, "0::/" + scope + "/container\n", {folder.c_str()});
  EXPECT_EQ(podman.groups().v2, "/cg/" + scope);
}

TEST(ContainerGroups, outside_of_our_namespace_are_not_seen) {
  const Machine machine(kV2Mount, "0::/../docker-0a1b2c3d.scope\n", {"cg"});
  EXPECT_TRUE(machine.groups().empty());
  const Machine gone(kV2Mount, "", {"cg/system.slice/docker-0a1b2c3d.scope"});
  EXPECT_TRUE(gone.groups().empty());
}

}  // namespace
}  // namespace assay::launch
