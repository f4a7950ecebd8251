// SPDX-License-Identifier: Apache-2.0
#include "config_section.h"
#include "tokens.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include <assay/agent/config.h>
#include <assay/base/files.h>
#include <assay/base/wording.h>
#include <assay/net/http_server.h>

namespace assay::agent {

namespace fs = std::filesystem;

namespace {

constexpr YamlUse kConfig = {
    .what = "a config file",
    .least = "write at least one key, or start without --config",
    .example = "listen: 127.0.0.1:9410",
};
constexpr size_t kMostTokens = 100;
constexpr size_t kMostGlobs = 1000;
constexpr double kMostCores = 4096;
constexpr std::array<std::string_view, 4> kRoles = {"read", "goals", "limits", "captures"};

void read_address(const Field& field, std::string& address, Problems& problems) {
  const auto text = read_scalar(field, "an address", "127.0.0.1:9410", problems);
  if (text && (text->empty() || keep(net::check_address(*text), field, problems))) address = *text;
}

void read_families(ConfigSection& section, Settings& settings) {
  section.yes_no("characteristics", settings.characteristics)
      .yes_no("containers", settings.containers)
      .yes_no("node", settings.node)
      .yes_no("reports", settings.reports)
      .yes_no("services", settings.services);
}

void read_location(ConfigSection& section, Location& location) {
  section.text("city", location.city)
      .text("continent", location.continent)
      .text("country", location.country)
      .number("latitude", {-90, 90}, location.latitude)
      .number("longitude", {-180, 180}, location.longitude);
}

void read_remote_write(ConfigSection& section, RemoteWrite& remote) {
  section.text("url", remote.url)
      .path("queue", remote.queue)
      .size("queue_size", remote.queue_size)
      .duration("interval", kShortestInterval, std::chrono::hours(1), remote.interval)
      .path("bearer_token_file", remote.bearer_token_file)
      .path("basic_auth_file", remote.basic_auth_file)
      .path("ca_file", remote.ca_file)
      .path("certificate_file", remote.certificate_file)
      .path("key_file", remote.key_file)
      .texts("labels", remote.labels);
}

/// What follows from several keys.
void check_remote_write(const Field& field, const RemoteWrite& remote, Problems& problems) {
  const auto wrong = [&](std::string_view what) {
    problems.add(field.line, fmt::format("remote_write: {}", what));
  };
  if (!remote.url.starts_with("http://") && !remote.url.starts_with("https://"))
    wrong("needs a url that begins with http:// or https://");
  if (!remote.bearer_token_file.empty() && !remote.basic_auth_file.empty())
    wrong("has a bearer_token_file and a basic_auth_file; remove one of them");
  if (remote.certificate_file.empty() != remote.key_file.empty())
    wrong("needs both or neither of certificate_file and key_file");
}

std::optional<Role> read_role(const Field& field, Problems& problems) {
  const auto name = read_scalar(field, "a list of roles", "[read, goals]", problems);
  if (!name) return std::nullopt;
  const auto* const role = std::find(kRoles.begin(), kRoles.end(), *name);
  if (role != kRoles.end()) return static_cast<Role>(role - kRoles.begin());
  problems.add(field.line, fmt::format("roles: there is no role {}{}", in_quotes(*name),
                                       suggestion(*name, kRoles)));
  return std::nullopt;
}

TokenSettings read_token(const Field& item, const fs::path& folder, Problems& problems) {
  TokenSettings token;
  const size_t before = problems.size();
  ConfigSection section(item.value, folder, problems);
  section.path("file", token.file).with("roles", [&](const Field& field) {
    for (const auto& name : items_of(field)) {
      const auto role = read_role(name, problems);
      if (role && std::find(token.roles.begin(), token.roles.end(), *role) == token.roles.end())
        token.roles.push_back(*role);
    }
  });
  section.done();
  if (problems.size() == before && (token.file.empty() || token.roles.empty()))
    problems.add(item.line, "tokens: each needs a file and roles");
  return token;
}

void read_tokens(const Field& field, const fs::path& folder, std::vector<TokenSettings>& tokens,
                 Problems& problems) {
  constexpr std::string_view kExample = "{file: reader.token, roles: [read]}";
  for (const auto& item : maps_of(field, kMostTokens, kExample, problems))
    tokens.push_back(read_token(item, folder, problems));
}

void read_globs(const Field& field, std::vector<std::string>& globs, Problems& problems) {
  if (field.value.IsSequence() && field.value.size() == 0)
    problems.add(field.line, fmt::format("{}: names none; leave it out for all", field.key));
  for (const auto& item : items_of(field)) {
    if (globs.size() == kMostGlobs) {
      problems.add(item.line, fmt::format("{}: too many; the most is {}", field.key, kMostGlobs));
      return;
    }
    if (auto glob = read_text(item, problems)) globs.push_back(std::move(*glob));
  }
}

void read_act(ConfigSection& section, ActSettings& act) {
  section.yes_no("enabled", act.enabled)
      .number("step", {0.01, 1}, act.step)
      .section("cores",
               [&](ConfigSection& cores) {
                 cores.number("least", {0.01, kMostCores}, act.least_cores)
                     .number("most", {0.01, kMostCores}, act.most_cores);
               })
      .section("memory",
               [&](ConfigSection& memory) {
                 memory.size("least", act.least_memory).size("most", act.most_memory);
               })
      .with("apps", [&](const Field& field) { read_globs(field, act.apps, section.problems()); });
}

void check_act(const Field& field, const ActSettings& act, Problems& problems) {
  if (act.most_cores > 0 && act.most_cores < act.least_cores)
    problems.add(field.line, "act: the most cores are less than the least; correct one of them");
  if (act.most_memory > 0 && act.most_memory < act.least_memory)
    problems.add(field.line, "act: the most memory is less than the least; correct one of them");
}

void read_kubernetes(ConfigSection& section, KubernetesSettings& kubernetes) {
  section.path("kubeconfig", kubernetes.kubeconfig)
      .text("node", kubernetes.node)
      .with("enabled", [&](const Field& field) {
        const auto text = read_scalar(field, "auto or no", "auto", section.problems());
        if (!text) return;
        kubernetes.enabled = *text == "auto";
        if (*text != "auto" && *text != "no") {
          section.problems().add(
              field.line, fmt::format("enabled: {} is neither auto nor no", in_quotes(*text)));
        }
      });
}

void read_places(ConfigSection& section, Settings& settings) {
  section
      .with("listen",
            [&](const Field& field) { read_address(field, settings.listen, section.problems()); })
      .path("socket", settings.socket)
      .path("hooks", settings.hooks)
      .path("docker", settings.docker)
      .path("targets_file", settings.targets_file)
      .path("advice_file", settings.advice_file)
      .path("specs", settings.specs)
      .path("state", settings.state)
      .with("tokens", [&](const Field& field) {
        read_tokens(field, section.folder(), settings.tokens, section.problems());
      });
}

void read_all(ConfigSection& section, Settings& settings) {
  Problems& problems = section.problems();
  read_places(section, settings);
  section.duration("interval", kShortestInterval, kLongestInterval, settings.interval)
      .number("own_share", {0, 1}, settings.own_share)
      .duration("linger", Nanoseconds(0), std::chrono::hours(24), settings.linger)
      .section("families", [&](ConfigSection& inner) { read_families(inner, settings); })
      .section("location", [&](ConfigSection& inner) { read_location(inner, settings.location); })
      .section("remote_write",
               [&](ConfigSection& inner) { read_remote_write(inner, settings.remote_write); })
      .with("remote_write",
            [&](const Field& field) { check_remote_write(field, settings.remote_write, problems); })
      .section("act", [&](ConfigSection& inner) { read_act(inner, settings.act); })
      .with("act", [&](const Field& field) { check_act(field, settings.act, problems); })
      .section("kubernetes",
               [&](ConfigSection& inner) { read_kubernetes(inner, settings.kubernetes); });
  section.done();
}

ConfigResult parse(const std::string& text, const fs::path& file, const fs::path& folder) {
  ConfigResult result;
  Problems problems(file.native());
  if (const auto root = load_map(text, kConfig, problems)) {
    ConfigSection section(*root, folder, problems);
    read_all(section, result.settings);
  }
  result.errors = problems.take();
  return result;
}

}  // namespace

std::string_view to_string(Role role) {
  return kRoles[static_cast<size_t>(role)];
}

ConfigResult parse_config(const std::string& text, const fs::path& file) {
  return parse(text, file, file.parent_path());
}

ConfigResult read_config(const fs::path& file) {
  const auto text = read_file(file, kLargestYaml);
  if (!text) return {{}, {{"", 0, text.error().message + "; give the path of a YAML file"}}};
  std::error_code ignored;
  auto result = parse(*text, file, fs::absolute(file, ignored).parent_path());
  if (const auto tokens = Tokens::load(result.settings.tokens); !tokens)
    result.errors.push_back({"", 0, tokens.error().message});
  return result;
}

}  // namespace assay::agent
