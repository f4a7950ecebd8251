// SPDX-License-Identifier: Apache-2.0
#include "docker/policy.h"
#include "process/testing.h"

#include <cstdlib>
#include <sys/stat.h>

#include <gtest/gtest.h>

namespace assay::launch {
namespace {

namespace fs = std::filesystem;
using testing::TempFolder;
using Words = std::vector<std::string>;

std::string error_in(const std::string& text) {
  const auto policy = parse_policy(text, "p.yaml");
  EXPECT_FALSE(policy) << text;
  return policy ? "" : policy.error().message;
}

TEST(PolicyFile, says_everything_that_a_policy_knows) {
  const auto policy = parse_policy(
      "# what specs may use\n"
      "mounts:\n"
      "  - /data\n"
      "  - {path: /home, file: a.json, target: /run//a.json, write: true}\n"
      "dataset: write\n"
      "volumes: [models]\n"
      "devices: ['/dev/video*']\n"
      "networks: [bridge, lab]\n"
      "env: []\n"
      "gpus: false\n"
      "capabilities: [cap_sys_ptrace]\n"
      "ipc: [host]\n"
      "pid: [host]\n"
      "security: ['seccomp=unconfined']\n"
      "runtimes: [kata]\n"
      "privileged: true\n",
      "p.yaml");
  ASSERT_TRUE(policy) << policy.error().message;
  ASSERT_EQ(policy->mounts.size(), 2U);
  EXPECT_EQ(policy->mounts[0].path, "/data");
  EXPECT_FALSE(policy->mounts[0].write);
  EXPECT_EQ(policy->mounts[1].file, "a.json");
  EXPECT_EQ(policy->mounts[1].target, "/run/a.json");
  EXPECT_TRUE(policy->mounts[1].write);
  EXPECT_EQ(policy->dataset, DatasetUse::write);
  EXPECT_EQ(policy->volumes, Words{"models"});
  EXPECT_EQ(policy->devices, Words{"/dev/video*"});
  EXPECT_EQ(policy->networks, (Words{"bridge", "lab"}));
  EXPECT_TRUE(policy->env.empty());
  EXPECT_FALSE(policy->gpus);
  EXPECT_EQ(policy->capabilities, Words{"SYS_PTRACE"});
  EXPECT_EQ(policy->ipc, Words{"host"});
  EXPECT_EQ(policy->pid, Words{"host"});
  EXPECT_EQ(policy->security, Words{"seccomp=unconfined"});
  EXPECT_EQ(policy->runtimes, Words{"kata"});
  EXPECT_TRUE(policy->privileged);
  EXPECT_EQ(policy->lines.at("mounts"), 2);
  EXPECT_EQ(policy->lines.at("privileged"), 16);
}

TEST(PolicyFile, keeps_what_is_built_in_for_what_it_does_not_say) {
  const auto policy = parse_policy("gpus: true\n", "p.yaml");
  ASSERT_TRUE(policy);
  EXPECT_EQ(policy->networks, default_policy().networks);
  EXPECT_EQ(policy->env, default_policy().env);
  EXPECT_EQ(policy->dataset, DatasetUse::read);
  EXPECT_FALSE(policy->privileged);
}

TEST(PolicyFile, that_is_broken_is_an_error_with_its_line) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "p.yaml: is empty"},
      {"# only words\n", "p.yaml: is empty"},
      {"---\n", "p.yaml: is empty"},
      {"- a\n", "p.yaml:1: must have keys"},
      {"just text", "p.yaml:1: must have keys"},
      {"gpus: true\nnetworks: [bridge\n", "p.yaml:3: not valid YAML"},
      {"gpus: true\nnetworks: [bridge]\nnetworks: [host]\n", "p.yaml:3: 'networks' is given twice"},
      {"network: [host]\n", "p.yaml:1: 'network' is not known; did you mean networks?"},
      {"gpus: maybe\n", "p.yaml:1: gpus must be true or false"},
      {"privileged:\n", "p.yaml:1: privileged must be text"},
      {"networks: bridge\n", "p.yaml:1: networks must be a list"},
      {"networks:\n", "p.yaml:1: networks must be a list"},
      {"networks: [bridge, [a]]\n", "p.yaml:1: networks must be text"},
      {"networks:\n- bridge\n- {a: b}\n", "networks must be text"},
      {"mounts: /data\n", "p.yaml:1: mounts must be a list"},
      {"mounts: [data]\n", "p.yaml:1: a mount must have a path from /"},
      {"mounts:\n- {file: x}\n", "p.yaml:2: a mount must have a path from /"},
      {"mounts:\n- {path: /a, wirte: true}\n",
       "p.yaml:2: 'wirte' is not known; did you mean write?"},
      {"mounts:\n- {path: /a, path: /b}\n", "p.yaml:2: 'path' is given twice"},
      {"mounts:\n- {path: /a, write: 1}\n", "p.yaml:2: write must be true or false"},
      {"mounts:\n- {path: /a, file: b/c}\n", "p.yaml:2: file must be a name"},
      {"mounts:\n- {path: /a, target: b}\n", "p.yaml:2: target must be a whole path"},
      {"dataset: all\n", "p.yaml:1: dataset must be none, read or write"},
      {"gpus: true\n---\nprivileged: true\n", "p.yaml:2: a second document"},
      {"networks: [\"bridge]\nprivileged: true\n", "p.yaml:"},
      {"networks: ['bridge',\n'host]\nenv: []\n", "p.yaml:"},
      {"gpus: true\n\tx: y\n", "p.yaml:2: has a tab"},
      {std::string("gpus: true\n\0x: y\n", 17), "p.yaml:2: has a tab or another control"},
      {"gpus: true\ndatasets: [/srv, data]\n", "p.yaml:2: datasets must have paths from /"},
      {"? [a]\n: b\n", "p.yaml:1: a key must be text"},
  };
  for (const auto& [text, expected] : cases) {
    const std::string error = error_in(text);
    EXPECT_NE(error.find(expected), std::string::npos) << text << "\n" << error;
  }
}

TEST(PolicyFile, with_a_quote_left_open_is_not_read_as_a_shorter_policy) {
  EXPECT_NE(error_in("networks: [none, \"a\ngpus: false\nenv: [b\"]\n").find("one line"),
            std::string::npos);
}

TEST(PolicyFile, tells_all_that_is_wrong_at_once) {
  const std::string error = error_in("gpus: 1\nprivileged: 2\nfoo: 3\n");
  EXPECT_NE(error.find("p.yaml:1:"), std::string::npos) << error;
  EXPECT_NE(error.find("p.yaml:2:"), std::string::npos) << error;
  EXPECT_NE(error.find("p.yaml:3:"), std::string::npos) << error;
}

TEST(PolicyFile, that_others_may_write_is_an_error) {
  const TempFolder folder;
  folder.write("p.yaml", "gpus: false\n");
  const fs::path file = folder.path() / "p.yaml";
  for (const mode_t mode : {0666U, 0620U, 0602U}) {
    ASSERT_EQ(::chmod(file.c_str(), mode), 0);
    const auto policy = read_policy(file);
    ASSERT_FALSE(policy) << mode;
    EXPECT_NE(policy.error().message.find("chmod go-w"), std::string::npos);
  }
  ASSERT_EQ(::chmod(file.c_str(), 0644), 0);
  const auto policy = read_policy(file);
  ASSERT_TRUE(policy) << policy.error().message;
  EXPECT_FALSE(policy->gpus);
  EXPECT_EQ(policy->file, file);
}

TEST(PolicyFile, that_is_missing_large_or_no_file_is_an_error) {
  const TempFolder folder;
  EXPECT_FALSE(read_policy(folder.path() / "none.yaml"));
  EXPECT_FALSE(read_policy(folder.path()));
  testing::make_fifo(folder.path() / "fifo");
  EXPECT_FALSE(read_policy(folder.path() / "fifo"));
  folder.write("large.yaml", "gpus: true\n" + std::string(100'000, '#'));
  EXPECT_FALSE(read_policy(folder.path() / "large.yaml"));
}

TEST(PolicyFile, is_the_one_that_the_environment_names) {
  const TempFolder folder;
  folder.write("p.yaml", "gpus: false\n");
  ::chmod((folder.path() / "p.yaml").c_str(), 0600);
  ::setenv("ASSAY_POLICY", (folder.path() / "p.yaml").c_str(), 1);
  const auto named = find_policy();
  ::setenv("ASSAY_POLICY", (folder.path() / "none.yaml").c_str(), 1);
  const auto missing = find_policy();
  ::unsetenv("ASSAY_POLICY");
  ASSERT_TRUE(named) << named.error().message;
  EXPECT_FALSE(named->gpus);
  EXPECT_FALSE(missing);
}

}  // namespace
}  // namespace assay::launch
