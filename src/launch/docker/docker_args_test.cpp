// SPDX-License-Identifier: Apache-2.0
#include "docker/docker_args.h"

#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>

#include <gtest/gtest.h>

namespace assay::launch {
namespace {

using Words = std::vector<std::string>;

DockerArgs read(const Words& words) {
  auto args = parse_docker_args(words);
  EXPECT_TRUE(args) << args.error().message;
  return args ? *args : DockerArgs();
}

std::string error_of(const Words& words) {
  const auto args = parse_docker_args(words);
  EXPECT_FALSE(args);
  return args ? "" : args.error().message;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(DockerArgs, none_ask_for_nothing) {
  const auto args = read({});
  EXPECT_TRUE(args.mounts.empty());
  EXPECT_TRUE(args.env.empty());
  EXPECT_TRUE(args.network.empty());
  EXPECT_FALSE(args.privileged);
}

TEST(DockerArgs, take_the_call_that_existing_scripts_make) {
  const auto args = read({"-v", "/home/waggle/test/data-config.json:/run/waggle/data-config.json"});
  EXPECT_EQ(args.mounts, (std::vector<Mount>{{MountKind::bind,
                                              "/home/waggle/test/data-config.json",
                                              "/run/waggle/data-config.json",
                                              false,
                                              {}}}));
}

TEST(DockerArgs, take_a_value_in_every_form_of_docker) {
  const std::vector<Words> forms = {{"-v", "/a:/b"},       {"-v=/a:/b"},       {"-v/a:/b"},
                                    {"--volume", "/a:/b"}, {"--volume=/a:/b"}, {"-itv", "/a:/b"}};
  for (const auto& words : forms) {
    const auto args = read(words);
    ASSERT_EQ(args.mounts.size(), 1U) << words[0];
    EXPECT_EQ(args.mounts[0], (Mount{MountKind::bind, "/a", "/b", false, {}})) << words[0];
  }
}

TEST(DockerArgs, tell_paths_volumes_and_new_volumes_apart) {
  const auto mounts =
      read({"-v", "/a:/b:ro", "-v", "models:/m", "-v", "/cache", "-v", "/x:/y:rw,cached"}).mounts;
  EXPECT_EQ(mounts, (std::vector<Mount>{{MountKind::bind, "/a", "/b", true, {}},
                                        {MountKind::volume, "models", "/m", false, {}},
                                        {MountKind::volume, "", "/cache", false, {}},
                                        {MountKind::bind, "/x", "/y", false, {}}}));
}

TEST(DockerArgs, have_one_name_for_each_place_in_the_container) {
  const auto mounts = read({"-v", "/a:/data/", "-v", "/b:/run/waggle/../x", "-v", "/cache//",
                            "--mount", "type=tmpfs,target=/t/."})
                          .mounts;
  ASSERT_EQ(mounts.size(), 4U);
  EXPECT_EQ(mounts[0].target, "/data");
  EXPECT_EQ(mounts[1].target, "/run/x");
  EXPECT_EQ(mounts[2].target, "/cache");
  EXPECT_EQ(mounts[3].target, "/t");
}

TEST(DockerArgs, start_a_path_with_a_dot_from_the_current_folder) {
  const auto args = read({"-v", "./data:/d"});
  EXPECT_EQ(args.mounts.at(0).source, (std::filesystem::current_path() / "./data").native());
}

TEST(DockerArgs, take_mounts_of_three_types) {
  const auto mounts = read({"--mount", "type=bind,src=/a,dst=/b,readonly", "--mount",
                            "type=tmpfs,target=/t,tmpfs-size=64m", "--mount",
                            "source=models,destination=/m,ro=false"})
                          .mounts;
  EXPECT_EQ(mounts, (std::vector<Mount>{{MountKind::bind, "/a", "/b", true, {}},
                                        {MountKind::tmpfs, "", "/t", false, 64U << 20U},
                                        {MountKind::volume, "models", "/m", false, {}}}));
}

TEST(DockerArgs, take_variables_with_a_value_or_from_our_environment) {
  ::setenv("ASSAY_TEST_OURS", "from here", 1);
  ::unsetenv("ASSAY_TEST_UNSET");
  const auto args = read({"-e", "A=1=2", "--env=B=", "-e", "ASSAY_TEST_OURS", "-e",
                          "ASSAY_TEST_UNSET", "-e", "LINES=a\nb"});
  EXPECT_EQ(args.env,
            (std::map<std::string, std::string>{
                {"A", "1=2"}, {"B", ""}, {"ASSAY_TEST_OURS", "from here"}, {"LINES", "a\nb"}}));
  EXPECT_EQ(args.env_taken_over, Words{"ASSAY_TEST_OURS"});
}

TEST(DockerArgs, forget_that_a_variable_was_ours_when_it_is_then_given) {
  ::setenv("ASSAY_TEST_OURS", "from here", 1);
  const auto args = read({"-e", "ASSAY_TEST_OURS", "-e", "ASSAY_TEST_OURS=given"});
  EXPECT_EQ(args.env.at("ASSAY_TEST_OURS"), "given");
  EXPECT_TRUE(args.env_taken_over.empty());
}

TEST(DockerArgs, take_devices) {
  const auto devices = read({"--device", "/dev/video0", "--device=/dev/video1:/dev/cam", "--device",
                             "/dev/snd:r", "--device", "/dev/a:/dev/b:rw"})
                           .devices;
  EXPECT_EQ(devices, (std::vector<DeviceArg>{{"/dev/video0", "/dev/video0", "rwm"},
                                             {"/dev/video1", "/dev/cam", "rwm"},
                                             {"/dev/snd", "/dev/snd", "r"},
                                             {"/dev/a", "/dev/b", "rw"}}));
}

TEST(DockerArgs, take_the_graphics_cards_as_docker_writes_them) {
  EXPECT_EQ(read({"--gpus", "all"}).gpus, "all");
  EXPECT_EQ(read({"--gpus=2"}).gpus, "2");
  EXPECT_EQ(read({"--gpus", "count=2"}).gpus, "2");
  EXPECT_EQ(read({"--gpus", "device=0,1"}).gpus, "device=0,1");
  EXPECT_EQ(read({"--gpus", "\"device=GPU-3a2b,1\""}).gpus, "device=GPU-3a2b,1");
  for (const char* bad : {"", "0", "some", "device=", "device=0,,1", "capabilities=compute"})
    EXPECT_TRUE(has(error_of({"--gpus", bad}), "must be all, a number")) << bad;
}

TEST(DockerArgs, take_everything_else_that_a_policy_judges) {
  const auto args = read({"--net=host",
                          "--shm-size",
                          "2g",
                          "--ipc=host",
                          "--pid",
                          "host",
                          "--privileged",
                          "-u",
                          "1000:1000",
                          "-w",
                          "/app",
                          "-h",
                          "node",
                          "--entrypoint",
                          "sh",
                          "--runtime=nvidia",
                          "--add-host",
                          "db:10.0.0.2",
                          "--cap-add",
                          "cap_sys_ptrace",
                          "--cap-add=ALL",
                          "--security-opt",
                          "seccomp=unconfined",
                          "--ulimit",
                          "nofile=1024:2048",
                          "--ulimit",
                          "memlock=-1"});
  EXPECT_EQ(args.network, "host");
  EXPECT_EQ(args.shm_bytes, 2ULL << 30U);
  EXPECT_EQ(args.ipc, "host");
  EXPECT_EQ(args.pid, "host");
  EXPECT_TRUE(args.privileged);
  EXPECT_EQ(args.user, "1000:1000");
  EXPECT_EQ(args.workdir, "/app");
  EXPECT_EQ(args.hostname, "node");
  EXPECT_EQ(args.entrypoint, "sh");
  EXPECT_EQ(args.runtime, "nvidia");
  EXPECT_EQ(args.hosts, Words{"db:10.0.0.2"});
  EXPECT_EQ(args.cap_add, (Words{"SYS_PTRACE", "ALL"}));
  EXPECT_EQ(args.security, Words{"seccomp=unconfined"});
  EXPECT_EQ(args.ulimits, (std::vector<UlimitArg>{{"nofile", 1024, 2048}, {"memlock", -1, -1}}));
}

TEST(DockerArgs, take_off_what_was_put_on) {
  EXPECT_FALSE(read({"--privileged", "--privileged=false"}).privileged);
}

TEST(DockerArgs, accept_what_has_no_meaning_here_and_tell_it) {
  const auto args = read({"-it", "-d", "--rm", "--name", "counter", "--tty=true"});
  EXPECT_EQ(args.ignored, (Words{"--interactive", "--tty", "--detach", "--rm", "--name", "--tty"}));
  EXPECT_TRUE(args.mounts.empty());
}

TEST(DockerArgs, name_every_unknown_option_and_the_nearest_known_one) {
  const std::string error = error_of({"--volme", "/a:/b", "-x", "--network", "none", "--devic=/d"});
  EXPECT_TRUE(has(error, "'--volme' is not known here; did you mean --volume?")) << error;
  EXPECT_TRUE(has(error, "'-x' is not known here")) << error;
  EXPECT_TRUE(has(error, "'--devic' is not known here; did you mean --device?")) << error;
  EXPECT_FALSE(has(error, "/a:/b")) << error;
  EXPECT_TRUE(has(error_of({"--qqqqqqqqqqqqqqqqqqq"}), "leave it out"));
  EXPECT_TRUE(has(error_of({"--cpus", "1"}), "write it into resources (cpus, memory, pids)"));
}

TEST(DockerArgs, say_what_is_wrong_with_a_value) {
  const std::vector<std::pair<Words, std::string>> cases = {
      {{"-v"}, "-v has no value behind it"},
      {{"-v", "/a:b"}, "must be a whole path"},
      {{"-v", ":/b"}, "must be a whole path"},
      {{"-v", ""}, "must be a whole path"},
      {{"-v", "~/a:/b"}, "~ is a shell's"},
      {{"-v", "a/b:/c"}, "must be a whole path"},
      {{"-v", "/a:/"}, "over the container's /"},
      {{"-v", "/a:/b/.."}, "over the container's /"},
      {{"-v", "/a:/b:rslave"}, "'rslave' is not known here; use ro or rw"},
      {{"-v", "/a:/b:ro:x"}, "too many colons"},
      {{"--mount", "type=bind,target=/b"}, "has no source="},
      {{"--mount", "type=bind,source=/a"}, "has no target="},
      {{"--mount", "type=npipe,target=/b"}, "type 'npipe' is not known here"},
      {{"--mount", "type=bind,source=/a,taget=/b"}, "did you mean target?"},
      {{"--mount", "source=/a,target=/b"}, "write type=bind"},
      {{"--mount", "type=volume,source=m,target=/b,volume-opt=o=bind"},
       "'volume-opt' is not known"},
      {{"--mount", "type=tmpfs,target=/t,tmpfs-size=much"}, "must be a size"},
      {{"--mount", "type=tmpfs,source=/a,target=/t"}, "a tmpfs has no source"},
      {{"--mount", "type=bind,source=/a,target=/b,readonly=maybe"}, "must be true or false"},
      {{"--device", "nvidia.com/gpu=all"}, "as in /dev/video0"},
      {{"--device", "/dev/a:/dev/b:x"}, "must be of r, w and m"},
      {{"--shm-size", "big"}, "must be a size"},
      {{"--network", "name=x,alias=y"}, "is not a network's name"},
      {{"--net", "a", "--network", "b"}, "is given twice"},
      {{"--privileged=perhaps"}, "must be true or false"},
      {{"--workdir", "app"}, "must be a whole path"},
      {{"--add-host", "db"}, "must be NAME:ADDRESS"},
      {{"--ulimit", "nofile"}, "must be as in nofile=1024"},
      {{"--ipc="}, "has no value"},
      {{"waggle/app:1.0"}, "'waggle/app:1.0' is not an option"},
      {{"--"}, "is not an option"},
      {{"-"}, "is not an option"},
      {{"-v", std::string("/a\0b:/c", 7)}, "has control characters"},
      {{"--user", "a\nb"}, "has control characters"},
  };
  for (const auto& [words, expected] : cases) {
    const std::string error = error_of(words);
    EXPECT_TRUE(has(error, expected)) << error;
    EXPECT_TRUE(has(error, "docker argument ")) << error;
  }
}

TEST(DockerArgs, never_show_the_value_of_a_variable) {
  const std::string error =
      error_of({"-e", "=dummy-secret", "--env", std::string("A=dummy-secret\0", 15)});
  EXPECT_TRUE(has(error, "must be NAME=VALUE or NAME")) << error;
  EXPECT_TRUE(has(error, "has control characters")) << error;
  EXPECT_FALSE(has(error, "dummy-secret")) << error;
}

TEST(DockerArgs, keep_a_message_short_however_much_is_wrong) {
  const std::string error = error_of(Words(1000, "--" + std::string(1000, 'x')));
  EXPECT_LT(error.size(), 6000U);
  EXPECT_TRUE(has(error, "; and more")) << error;
}

}  // namespace
}  // namespace assay::launch
