// SPDX-License-Identifier: Apache-2.0
#include "docker/policy.h"

#include "process/testing.h"

#include <cstdlib>
#include <sched.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>

#include <assay/base/files.h>
#include <gtest/gtest.h>

namespace assay::launch {
namespace {

namespace fs = std::filesystem;
using testing::TempFolder;
using Words = std::vector<std::string>;

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

Policy policy_of(const std::string& text) {
  const auto policy = parse_policy(text, "/lab/policy.yaml");
  EXPECT_TRUE(policy) << policy.error().message;
  return policy ? *policy : Policy();
}

DockerArgs args_of(const Words& words) {
  const auto args = parse_docker_args(words);
  EXPECT_TRUE(args) << args.error().message;
  return args ? *args : DockerArgs();
}

/// A machine with a dataset, a file beside it and an engine that listens.
class PolicyTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_.write("data/frame.jpg", "jpeg");
    folder_.write("outside/file", "text");
    fs::create_directories(root() / "run");
    context_.dataset = root() / "data";
    context_.engine_sockets = {root() / "run/engine.sock"};
    listen(root() / "run/engine.sock");
  }

  fs::path root() const { return fs::canonical(folder_.path()); }

  void listen(const fs::path& path) {
    socket_ = Fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    ASSERT_LT(path.native().size(), sizeof address.sun_path);
    path.native().copy(address.sun_path, path.native().size());
    ASSERT_EQ(::bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }

  Words refused(const Words& words, const Policy& policy = default_policy()) const {
    return refused_by(policy, args_of(words), context_);
  }
  /// The one sentence that is expected.
  std::string refusal(const Words& words, const Policy& policy = default_policy()) const {
    const auto all = refused(words, policy);
    EXPECT_EQ(all.size(), 1U) << ::testing::PrintToString(words);
    return all.empty() ? "" : all.front();
  }
  std::string dataset_refusal(const fs::path& dataset, const Policy& policy = default_policy()) {
    context_.dataset = dataset;
    return refused_dataset(policy, context_).value_or("");
  }
  Words mount(const fs::path& source, const std::string& rest = ":/in:ro") const {
    return {"-v", source.native() + rest};
  }
  Policy allowing(const fs::path& path) const {
    return policy_of("mounts:\n  - {path: " + path.native() + ", write: true}\n");
  }

  TempFolder folder_;
  PolicyContext context_;
  Fd socket_;
};

TEST_F(PolicyTest, allows_by_default_the_dataset_variables_gpus_and_a_network_of_its_own) {
  EXPECT_EQ(refused({"-v",
                     (root() / "data").native() + ":/in:ro",
                     "-v",
                     (root() / "data/frame.jpg").native() + ":/f:ro",
                     "-e",
                     "LEVEL=debug",
                     "-e",
                     "HOME",
                     "--network",
                     "bridge",
                     "--gpus",
                     "all",
                     "--shm-size",
                     "1g",
                     "--ipc",
                     "private",
                     "-v",
                     "/cache",
                     "--mount",
                     "type=tmpfs,target=/t",
                     "--runtime",
                     "nvidia",
                     "-u",
                     "1000",
                     "--security-opt",
                     "no-new-privileges",
                     "-it",
                     "--add-host",
                     "db:10.0.0.2",
                     "--ulimit",
                     "nofile=1024",
                     "-w",
                     "/app",
                     "-h",
                     "node",
                     "--entrypoint",
                     "sh"}),
            Words{});
  EXPECT_EQ(refused({}), Words{});
}

TEST_F(PolicyTest, refuses_by_default_each_thing_with_its_rule_and_what_to_do) {
  const std::vector<std::pair<Words, std::string>> cases = {
      {{"--network", "host"}, "rule networks"},
      {{"--net", "container:abc"}, "rule networks"},
      {{"--net", "somebodys"}, "rule networks"},
      {{"--privileged"}, "rule privileged"},
      {{"--ipc", "host"}, "rule ipc"},
      {{"--ipc", "container:abc"}, "rule ipc"},
      {{"--pid", "host"}, "rule pid"},
      {{"--cap-add", "SYS_ADMIN"}, "rule capabilities"},
      {{"--cap-add", "ALL"}, "rule capabilities"},
      {{"--device", "/dev/null"}, "rule devices"},
      {{"--security-opt", "seccomp=unconfined"}, "rule security"},
      {{"--security-opt", "no-new-privileges:false"}, "rule security"},
      {{"--runtime", "mine"}, "rule runtimes"},
      {{"-v", "models:/m"}, "rule volumes"},
      {mount(root() / "outside/file"), "rule mounts"},
      {mount("/etc"), "rule mounts"},
  };
  for (const auto& [words, rule] : cases) {
    const std::string sentence = refusal(words);
    EXPECT_TRUE(has(sentence, "refused by " + rule + " of the built-in policy: ")) << sentence;
    EXPECT_TRUE(
        has(sentence, "or ask this machine's operator to allow it in /etc/assay/policy.yaml"))
        << sentence;
    EXPECT_TRUE(sentence.starts_with("-")) << sentence;
  }
}

TEST_F(PolicyTest, tells_each_refused_thing_in_a_sentence_of_its_own) {
  EXPECT_EQ(refused({"--network", "host", "--privileged", "--pid", "host"}).size(), 3U);
}

TEST_F(PolicyTest, names_the_line_that_forbids_or_says_that_the_file_is_silent) {
  const Policy policy = policy_of("gpus: false\n\nnetworks: [none]\n");
  EXPECT_TRUE(has(refusal({"--gpus", "2", "--net=none"}, policy),
                  "rule gpus of policy /lab/policy.yaml:1"));
  EXPECT_TRUE(has(refusal({"--net=bridge"}, policy), "rule networks of policy /lab/policy.yaml:3"));
  const std::string silent = refusal({"--pid=host", "--net=none"}, policy);
  EXPECT_TRUE(has(silent, "built-in rule pid, on which policy /lab/policy.yaml says nothing"))
      << silent;
  EXPECT_TRUE(has(silent, "operator to allow it in /lab/policy.yaml")) << silent;
}

TEST_F(PolicyTest, lets_the_dataset_be_read_and_says_how) {
  const std::string sentence = refusal(mount(root() / "data/frame.jpg", ":/f"));
  EXPECT_TRUE(has(sentence, "rule dataset")) << sentence;
  EXPECT_TRUE(has(sentence, "it may only be mounted read-only; add :ro")) << sentence;
  EXPECT_EQ(refused(mount(root() / "data", ":/f"), policy_of("dataset: write\n")), Words{});
  EXPECT_EQ(refused(mount(root() / "data"), policy_of("dataset: none\n")).size(), 1U);
  context_.dataset.clear();
  EXPECT_EQ(refused(mount(root() / "data")).size(), 1U);
}

TEST_F(PolicyTest, follows_links_and_dots_out_of_the_dataset) {
  fs::create_symlink(root() / "outside/file", root() / "data/link");
  fs::create_directory_symlink(root() / "outside", root() / "data/folder");
  const std::string sentence = refusal(mount(root() / "data/link"));
  EXPECT_TRUE(
      has(sentence, (root() / "outside/file").native() + "', to which it leads, is outside"))
      << sentence;
  EXPECT_EQ(refused(mount(root() / "data/folder/file")).size(), 1U);
  EXPECT_EQ(refused(mount(root() / "data/../outside")).size(), 1U);
  // A folder whose name only begins like the dataset's.
  folder_.write("data-of-others/file", "text");
  EXPECT_EQ(refused(mount(root() / "data-of-others")).size(), 1U);
}

TEST_F(PolicyTest, follows_links_into_the_dataset_and_the_dataset_itself_being_one) {
  fs::create_symlink(root() / "data/frame.jpg", root() / "outside/link");
  EXPECT_EQ(refused(mount(root() / "outside/link")), Words{});
  fs::create_directory_symlink(root() / "data", root() / "dataset");
  context_.dataset = root() / "dataset";
  EXPECT_EQ(refused(mount(root() / "data/frame.jpg")), Words{});
}

TEST_F(PolicyTest, refuses_what_does_not_exist_as_nobody_knows_what_it_will_be) {
  fs::create_symlink(root() / "run/not-yet.sock", root() / "data/dangling");
  EXPECT_TRUE(has(refusal(mount(root() / "data/nothing")), "there is no such file or folder"));
  EXPECT_TRUE(has(refusal(mount(root() / "data/dangling")), "there is no such file or folder"));
  EXPECT_TRUE(has(refusal({"--device", "/dev/assay-none"}), "does not exist on this machine"));
}

TEST_F(PolicyTest, refuses_an_engines_socket_under_every_name_and_through_folders_above_it) {
  fs::create_symlink(root() / "run/engine.sock", root() / "data/link");
  fs::create_hard_link(root() / "run/engine.sock", root() / "data/hard");
  fs::create_directory_symlink(root() / "run", root() / "data/folder");
  const Policy wide = allowing(root());
  for (const auto& source :
       {root() / "run/engine.sock", root() / "run", root() / "data/link", root() / "data/hard",
        root() / "data/folder", root() / "data/folder/engine.sock", root() / "data/../run"}) {
    const std::string sentence = refusal(mount(source), wide);
    EXPECT_TRUE(has(sentence, "would give the app the machine")) << sentence;
    EXPECT_EQ(refused(mount(source)).size(), 1U) << source;
  }
}

TEST_F(PolicyTest, refuses_every_other_services_socket_too) {
  listen(root() / "data/service.sock");
  const std::string sentence = refusal(mount(root() / "data/service.sock"), allowing(root()));
  EXPECT_TRUE(has(sentence, "it is a socket of a service")) << sentence;
  EXPECT_EQ(refused(mount(root() / "data"), allowing(root())), Words{});
}

TEST_F(PolicyTest, refuses_an_engines_folder_under_the_name_of_a_bind_mount) {
  if (::getuid() != 0) GTEST_SKIP() << "only root may mount";
  fs::create_directory(root() / "data/bound");
  // In a thread whose mounts nobody else sees.
  std::thread([&] {
    ASSERT_EQ(::unshare(CLONE_NEWNS), 0);
    ASSERT_EQ(::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr), 0);
    ASSERT_EQ(::mount((root() / "run").c_str(), (root() / "data/bound").c_str(), nullptr, MS_BIND,
                      nullptr),
              0);
    EXPECT_TRUE(has(refusal(mount(root() / "data/bound")), "a container engine listens in it"));
  }).join();
  EXPECT_EQ(refused(mount(root() / "data/bound")), Words{});
}

TEST_F(PolicyTest, refuses_a_folder_in_which_an_engine_will_listen_later) {
  context_.engine_sockets = {root() / "outside/later.sock"};
  EXPECT_TRUE(
      has(refusal(mount(root() / "outside"), allowing(root())), "a container engine listens"));
}

TEST_F(PolicyTest, refuses_the_dataset_where_that_holds_the_engine) {
  context_.dataset = root();
  EXPECT_TRUE(has(refusal(mount(root())), "would give the app the machine"));
  EXPECT_EQ(refused(mount(root() / "outside")), Words{});
  context_.dataset = "/";
  EXPECT_TRUE(has(refusal(mount("/")), "it is the whole machine"));
}

TEST_F(PolicyTest, takes_any_folder_or_file_for_a_dataset) {
  EXPECT_EQ(dataset_refusal(root() / "data"), "");
  EXPECT_EQ(dataset_refusal(root() / "data/frame.jpg"), "");
  EXPECT_EQ(dataset_refusal(""), "");
  // Whether `-v` may name what is in it is another matter.
  EXPECT_EQ(dataset_refusal(root() / "data", policy_of("dataset: none\n")), "");
}

TEST_F(PolicyTest, takes_no_folder_of_the_system_for_a_dataset) {
  fs::create_directory_symlink("/etc", root() / "data/link");
  for (const auto& path : {fs::path("/etc"), fs::path("/etc/passwd"), fs::path("/proc"),
                           fs::path("/proc/self/"), fs::path("/sys/kernel"), fs::path("/dev"),
                           fs::path("/var/lib"), fs::path("/var"), root() / "data/link"}) {
    const std::string sentence = dataset_refusal(path);
    EXPECT_TRUE(has(sentence, "refused by rule datasets of the built-in policy: ")) << path;
    EXPECT_TRUE(has(sentence, "a folder of the system")) << sentence;
  }
  for (const char* path : {"/run", "/var/run"})
    EXPECT_TRUE(has(dataset_refusal(path), "cannot be a dataset: ")) << path;
  EXPECT_TRUE(dataset_refusal("/etc").starts_with("dataset '/etc': refused"));
}

TEST_F(PolicyTest, takes_neither_keys_nor_places_where_services_listen_for_a_dataset) {
  folder_.write("home/.ssh/id", "dummy");
  EXPECT_TRUE(has(dataset_refusal(root() / "home"), "keys are in its folder .ssh"));
  EXPECT_TRUE(has(dataset_refusal(root() / "home/.ssh/id"), "it is for keys"));
  listen(root() / "data/service.sock");
  EXPECT_TRUE(has(dataset_refusal(root() / "data"), "a service listens at service.sock in it"));
  EXPECT_TRUE(has(dataset_refusal(root() / "run"), "a container engine listens in it"));
}

TEST_F(PolicyTest, takes_datasets_from_where_the_operator_says) {
  const Policy policy = policy_of("datasets: [" + (root() / "data").native() + ", /etc]\n");
  EXPECT_EQ(dataset_refusal(root() / "data/frame.jpg", policy), "");
  EXPECT_EQ(dataset_refusal("/etc", policy), "");
  EXPECT_TRUE(has(dataset_refusal("/etc/passwd", policy), "/etc is a folder of the system"));
  const std::string sentence = dataset_refusal(root() / "outside", policy);
  EXPECT_TRUE(has(sentence,
                  "rule datasets of policy /lab/policy.yaml:1: it is outside of every "
                  "folder that is allowed; copy what the app needs"))
      << sentence;
  EXPECT_TRUE(has(dataset_refusal("/", policy_of("datasets: [/]\n")), "it is the whole machine"));
}

TEST_F(PolicyTest, allows_an_engines_socket_and_its_folder_only_where_they_are_named) {
  EXPECT_EQ(refused(mount(root() / "run/engine.sock"), allowing(root() / "run/engine.sock")),
            Words{});
  EXPECT_EQ(refused(mount(root() / "run"), allowing(root() / "run")), Words{});
  EXPECT_EQ(refused(mount(root() / "run/engine.sock"), allowing(root() / "run")).size(), 1U);
}

TEST_F(PolicyTest, refuses_the_whole_machine_unless_it_is_named) {
  fs::create_directory_symlink("/", root() / "data/slash");
  for (const auto& source :
       {fs::path("/"), root() / "data/slash", fs::path("/proc/self/root"), fs::path("/tmp/..")}) {
    EXPECT_TRUE(has(refusal(mount(source), allowing("/tmp")), "it is the whole machine")) << source;
    EXPECT_EQ(refused(mount(source), allowing("/")), Words{}) << source;
  }
  // What the machine's own engine uses is not named by "/".
  EXPECT_EQ(refused(mount(root() / "run/engine.sock"), allowing("/")).size(), 1U);
}

TEST_F(PolicyTest, knows_the_engine_of_the_environment) {
  ::setenv("DOCKER_HOST", "unix:///somewhere/engine.sock", 1);
  const auto sockets = known_engine_sockets();
  ::unsetenv("DOCKER_HOST");
  EXPECT_NE(std::find(sockets.begin(), sockets.end(), "/somewhere/engine.sock"), sockets.end());
  EXPECT_NE(std::find(sockets.begin(), sockets.end(), "/var/run/docker.sock"), sockets.end());
  context_.engine_sockets = sockets;
  EXPECT_TRUE(has(refusal(mount("/var/run"), allowing("/var")), "would give the app the machine"));
  EXPECT_TRUE(has(refusal(mount("/run"), allowing("/")), "would give the app the machine"));
}

TEST_F(PolicyTest, knows_the_engines_of_all_users) {
  fs::create_directories(root() / "users/1234567");
  context_.engine_sockets = known_engine_sockets(root() / "users");
  EXPECT_TRUE(has(refusal(mount(root() / "users/1234567"), allowing(root())),
                  "a container engine listens in it"));
}

TEST_F(PolicyTest, allows_paths_below_a_rule_as_far_as_it_says) {
  const Policy policy = policy_of("mounts: [" + (root() / "outside").native() + "]\n");
  EXPECT_EQ(refused(mount(root() / "outside/file"), policy), Words{});
  EXPECT_EQ(refused(mount(root() / "outside"), policy), Words{});
  const std::string sentence = refusal(mount(root() / "outside/file", ":/f"), policy);
  EXPECT_TRUE(
      has(sentence, "rule mounts of policy /lab/policy.yaml:1: it may only be mounted read-only"))
      << sentence;
}

TEST_F(PolicyTest, allows_a_file_of_one_name_at_one_place) {
  folder_.write("outside/deep/data-config.json", "[]");
  folder_.write("outside/data-config.json.d/x", "");
  fs::create_directories(root() / "outside/dir/data-config.json");
  fs::create_symlink(root() / "outside/file", root() / "outside/deep/link");
  const Policy policy =
      policy_of("mounts:\n  - path: " + (root() / "outside").native() +
                "\n    file: data-config.json\n    target: /run/waggle/data-config.json\n");
  const std::string to = ":/run/waggle/data-config.json:ro";
  EXPECT_EQ(refused(mount(root() / "outside/deep/data-config.json", to), policy), Words{});
  EXPECT_EQ(
      refused(mount(root() / "outside/deep/data-config.json", ":/etc/passwd:ro"), policy).size(),
      1U);
  EXPECT_EQ(refused(mount(root() / "outside/file", to), policy).size(), 1U);
  EXPECT_EQ(refused(mount(root() / "outside/deep/link", to), policy).size(), 1U);
  EXPECT_EQ(refused(mount(root() / "outside/dir/data-config.json", to), policy).size(), 1U);
  // Another name that came to lead to such a file only after links were followed.
  fs::create_symlink(root() / "outside/deep/data-config.json", root() / "outside/late");
  EXPECT_EQ(refused(mount(root() / "outside/late", to), policy).size(), 1U);
  EXPECT_EQ(
      refused_by(policy, resolve_paths(args_of(mount(root() / "outside/late", to))), context_),
      Words{});
  EXPECT_EQ(refused(mount(root() / "outside/deep/data-config.json",
                          ":/run/waggle/../waggle/data-config.json:ro"),
                    policy),
            Words{});
}

TEST_F(PolicyTest, takes_devices_by_pattern_and_where_links_lead) {
  const Policy policy = policy_of("devices: [/dev/nul*, /dev/v4l/*]\n");
  EXPECT_EQ(refused({"--device", "/dev/null"}, policy), Words{});
  EXPECT_EQ(refused({"--device", "/dev/zero"}, policy).size(), 1U);
  fs::create_symlink("/dev/null", root() / "camera");
  fs::create_symlink("/dev/zero", root() / "null");
  EXPECT_EQ(refused({"--device", (root() / "camera").native()}, policy), Words{});
  const std::string sentence =
      refusal({"--device", (root() / "null").native() + ":/dev/null"}, policy);
  EXPECT_TRUE(has(sentence, "'/dev/zero', to which it leads")) << sentence;
  // A rule that names a link means what it leads to.
  EXPECT_EQ(refused({"--device", "/dev/null"},
                    policy_of("devices: [" + (root() / "camera").native() + "]\n")),
            Words{});
}

TEST_F(PolicyTest, never_takes_a_wildcard_for_host_or_another_container) {
  const Policy wide = policy_of("networks: ['*']\nipc: ['*']\npid: ['*']\ncapabilities: ['*']\n");
  EXPECT_EQ(refused({"--net=lab", "--ipc=none", "--cap-add=SYS_PTRACE"}, wide), Words{});
  for (const Words& words : {Words{"--net=host"},
                             {"--ipc=host"},
                             {"--pid=host"},
                             {"--net=container:x"},
                             {"--pid=container:x"},
                             {"--cap-add=all"}})
    EXPECT_EQ(refused(words, wide).size(), 1U) << words[0];
  const Policy named = policy_of(
      "networks: [host, 'container:*']\nipc: [host]\npid: [host]\ncapabilities: [cap_all]\n");
  EXPECT_EQ(refused({"--net=host", "--ipc=host", "--pid=host", "--cap-add=all"}, named), Words{});
  EXPECT_EQ(refused({"--net=container:x", "--ipc=host"}, named), Words{});
}

TEST_F(PolicyTest, judges_what_the_engine_takes_where_nothing_is_given) {
  const Policy closed = policy_of("networks: [none]\n");
  const std::string sentence = refusal({}, closed);
  EXPECT_TRUE(has(sentence,
                  "no --network: refused by rule networks of policy /lab/policy.yaml:1: "
                  "the usual one (bridge) is not among those allowed; choose with "
                  "--network one that is"))
      << sentence;
  EXPECT_EQ(refused({"--network", "default"}, closed).size(), 1U);
  EXPECT_EQ(refused({"--network", "none"}, closed), Words{});
  EXPECT_EQ(refused({}, policy_of("networks: [bridge]\n")), Words{});
  EXPECT_EQ(refused({}, policy_of("networks: [default]\n")), Words{});
  EXPECT_TRUE(has(refusal({}, policy_of("ipc: [none]\n")), "no --ipc: refused by rule ipc"));
  EXPECT_TRUE(has(refusal({}, policy_of("runtimes: [kata]\n")), "no --runtime: refused by rule"));
  EXPECT_EQ(refused({"--runtime", "kata"}, policy_of("runtimes: [kata]\n")), Words{});
}

TEST_F(PolicyTest, judges_variables_by_name_and_keeps_our_secrets) {
  EXPECT_EQ(refused({"-e", "OTHER=1"}, policy_of("env: [LEVEL, 'CAM_*']\n")).size(), 1U);
  EXPECT_EQ(refused({"-e", "CAM_ID=1", "-e", "LEVEL=2"}, policy_of("env: [LEVEL, 'CAM_*']\n")),
            Words{});
  ::setenv("ASSAY_TEST_TOKEN", "dummy", 1);
  const std::string sentence = refusal({"-e", "ASSAY_TEST_TOKEN"});
  EXPECT_TRUE(has(sentence, "sounds like a secret of ours")) << sentence;
  EXPECT_FALSE(has(sentence, "dummy")) << sentence;
  EXPECT_EQ(refused({"-e", "ASSAY_TEST_TOKEN=own"}), Words{});
  EXPECT_EQ(refused({"-e", "ASSAY_TEST_TOKEN"}, policy_of("env: ['*', ASSAY_TEST_TOKEN]\n")),
            Words{});
}

TEST_F(PolicyTest, resolves_paths_so_that_what_was_judged_is_what_is_used) {
  fs::create_symlink(root() / "data/frame.jpg", root() / "outside/link");
  fs::create_symlink("/dev/null", root() / "camera");
  const DockerArgs args = resolve_paths(
      args_of({"-v", (root() / "outside/../outside/link").native() + ":/f", "-v", "models:/m", "-v",
               "/assay-none/x:/y", "--device", (root() / "camera").native()}));
  EXPECT_EQ(args.mounts.at(0).source, root() / "data/frame.jpg");
  EXPECT_EQ(args.mounts.at(1).source, "models");
  EXPECT_EQ(args.mounts.at(2).source, "/assay-none/x");
  EXPECT_EQ(args.devices.at(0).source, "/dev/null");
  EXPECT_EQ(args.devices.at(0).target, (root() / "camera").native());
}

TEST_F(PolicyTest, of_a_lab_lets_existing_scripts_mount_their_camera_configuration) {
  const auto lab = parse_policy(*read_file(ASSAY_SOURCE_DIR "/deploy/policy-lab.yaml"), "lab.yaml");
  ASSERT_TRUE(lab) << lab.error().message;
  folder_.write("work/data-config.json", "[]");
  ASSERT_TRUE(root().native().starts_with("/tmp/"));
  const std::string to = ":/run/waggle/data-config.json";
  EXPECT_EQ(refused(mount(root() / "work/data-config.json", to), *lab), Words{});
  EXPECT_EQ(refused(mount(root() / "work/data-config.json", to + ":ro"), *lab), Words{});
  EXPECT_EQ(refused(mount(root() / "outside/file", to), *lab).size(), 1U);
  EXPECT_EQ(refused(mount(root() / "work", ":/run/waggle"), *lab).size(), 1U);
  fs::create_symlink("/etc/passwd", root() / "outside/data-config.json");
  EXPECT_EQ(refused(mount(root() / "outside/data-config.json", to), *lab).size(), 1U);
  EXPECT_EQ(refused({"--net=host"}, *lab).size(), 1U);
}

}  // namespace
}  // namespace assay::launch
