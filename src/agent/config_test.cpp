// SPDX-License-Identifier: Apache-2.0
#include <assay/agent/config.h>
#include <gtest/gtest.h>

namespace assay::agent {
namespace {

using std::chrono::seconds;

Settings settings_of(const std::string& text) {
  const auto result = parse_config(text, "/etc/assay/agent.yaml");
  for (const auto& error : result.errors) ADD_FAILURE() << error.text();
  return result.settings;
}

std::vector<std::string> errors_of(const std::string& text) {
  std::vector<std::string> lines;
  for (const auto& error : parse_config(text, "a.yaml").errors) lines.push_back(error.text());
  return lines;
}

using Lines = std::vector<std::string>;

TEST(Config, says_how_the_daemon_works) {
  const auto settings = settings_of(R"(
listen: ""
socket: /run/assay/agent.sock
hooks: live.sock
docker: ""
interval: 500ms
own_share: 0.05
linger: 2m
families: {containers: false, node: no, characteristics: true, services: false, reports: false}
targets_file: targets.json
advice_file: /run/advice
)");
  EXPECT_EQ(settings.listen, "");
  EXPECT_EQ(settings.socket, "/run/assay/agent.sock");
  EXPECT_EQ(settings.hooks, "/etc/assay/live.sock") << "paths start from the file's folder";
  EXPECT_EQ(settings.docker, "");
  EXPECT_EQ(settings.interval, Milliseconds(500));
  EXPECT_DOUBLE_EQ(settings.own_share, 0.05);
  EXPECT_EQ(settings.linger, seconds(120));
  EXPECT_FALSE(settings.containers);
  EXPECT_FALSE(settings.node);
  EXPECT_TRUE(settings.characteristics);
  EXPECT_FALSE(settings.services);
  EXPECT_FALSE(settings.reports);
  EXPECT_EQ(settings.targets_file, "/etc/assay/targets.json");
  EXPECT_EQ(settings.advice_file, "/run/advice");
}

TEST(Config, what_it_does_not_say_keeps_its_default) {
  const auto settings = settings_of("interval: 2\n");
  EXPECT_EQ(settings.interval, seconds(2));
  EXPECT_EQ(settings.listen, Settings().listen);
  EXPECT_EQ(settings.act, ActSettings());
  EXPECT_EQ(settings.remote_write, RemoteWrite());
}

TEST(Config, has_the_place_and_the_remote_end) {
  const auto settings = settings_of(R"(
location: {city: Chicago, country: US, continent: NA, latitude: 41.9, longitude: -87.6}
remote_write:
  url: https://prometheus:9090/api/v1/write
  queue: /var/lib/assay/queue
  queue_size: 1GiB
  interval: 1m
  bearer_token_file: push.token
  ca_file: ca.pem
  labels: {site: lake}
kubernetes: {enabled: no, kubeconfig: kube.conf, node: pole-7}
)");
  EXPECT_EQ(settings.location, (Location{"Chicago", "US", "NA", 41.9, -87.6}));
  EXPECT_EQ(settings.remote_write.queue_size, 1U << 30U);
  EXPECT_EQ(settings.remote_write.interval, seconds(60));
  EXPECT_EQ(settings.remote_write.labels.at("site"), "lake");
  EXPECT_EQ(settings.remote_write.bearer_token_file, "/etc/assay/push.token");
  EXPECT_EQ(settings.kubernetes, (KubernetesSettings{false, "/etc/assay/kube.conf", "pole-7"}));
}

TEST(Config, has_tokens_and_bounds) {
  const auto settings = settings_of(R"(
tokens:
  - {file: reader.token, roles: [read]}
  - {file: /etc/secret/boss, roles: [goals, limits, captures, goals]}
act:
  enabled: true
  cores: {least: 0.5, most: 3}
  memory: {least: 100MB, most: 2GB}
  step: 0.1
  apps: [plugin-*, camera]
)");
  EXPECT_EQ(settings.tokens, (std::vector<TokenSettings>{
                                 {"/etc/assay/reader.token", {Role::read}},
                                 {"/etc/secret/boss", {Role::goals, Role::limits, Role::captures}},
                             }));
  EXPECT_EQ(settings.act,
            (ActSettings{true, 0.5, 3, 100'000'000, 2'000'000'000, 0.1, {"plugin-*", "camera"}}));
}

TEST(Config, tells_all_that_is_wrong_with_its_line) {
  EXPECT_EQ(errors_of("listen: here\nintervall: 1s\nown_share: 2\nlinger: soon\n"),
            (Lines{
                "a.yaml:1: listen: 'here' is no address to listen at; write it as 127.0.0.1:9410, "
                "[::1]:9410 or :9410",
                "a.yaml:2: unknown key 'intervall'; did you mean 'interval'?",
                "a.yaml:3: own_share: '2' is not a number from 0 to 1",
                "a.yaml:4: linger: 'soon' is not a duration; write for example 500ms, 90s or 2m",
            }));
  EXPECT_EQ(errors_of("interval: 1ms\nfamilies: [node]\nlocation: {latitude: 91}\n"),
            (Lines{
                "a.yaml:1: interval: 1 ms is out of range; choose 100 ms to 1 min 0 s",
                "a.yaml:2: families: must be a map, not a list; write for example {key: value}",
                "a.yaml:3: latitude: '91' is not a number from -90 to 90",
            }));
}

TEST(Config, what_does_not_go_together_is_wrong) {
  EXPECT_EQ(errors_of("remote_write:\n  queue: q\n  key_file: k\n"),
            (Lines{"a.yaml:1: remote_write: needs a url that begins with http:// or https://",
                   "a.yaml:1: remote_write: needs both or neither of certificate_file and "
                   "key_file"}));
  EXPECT_EQ(errors_of("act:\n  cores: {least: 2, most: 1}\n  memory: {least: 2GB, most: many}\n"),
            (Lines{"a.yaml:1: act: the most cores are less than the least; correct one of them",
                   "a.yaml:3: most: 'many' is not a size; write for example 512MB or 2GiB"}));
  EXPECT_EQ(errors_of("tokens:\n- {file: a, roles: [reed]}\n- {file: b}\n- c\n"),
            (Lines{"a.yaml:2: roles: there is no role 'reed'; did you mean 'read'?",
                   "a.yaml:3: tokens: each needs a file and roles",
                   "a.yaml:4: tokens: must be a map or a list of maps, not text; write for example "
                   "{file: reader.token, roles: [read]}"}));
  EXPECT_EQ(errors_of("kubernetes: {enabled: maybe}\n"),
            (Lines{"a.yaml:1: enabled: 'maybe' is neither auto nor no"}));
}

TEST(Config, a_file_that_is_not_there_or_empty_is_said) {
  const auto missing = read_config("/nowhere/agent.yaml");
  ASSERT_EQ(missing.errors.size(), 1U);
  EXPECT_EQ(missing.errors[0].text(),
            "cannot open /nowhere/agent.yaml: No such file or directory; give the path of a YAML "
            "file");
  EXPECT_EQ(errors_of(""),
            (Lines{"a.yaml: is empty; write at least one key, or start without --config"}));
}

}  // namespace
}  // namespace assay::agent
