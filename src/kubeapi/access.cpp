// SPDX-License-Identifier: Apache-2.0
#include "login.h"
#include "memory_file.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <yaml-cpp/yaml.h>

#include <assay/base/text.h>
#include <assay/base/wording.h>
#include <assay/kubeapi/access.h>

namespace assay::kubeapi {
namespace {

/// It is written by hand or by a tool, and YAML in memory is 300 times its text.
constexpr size_t kLargest = 256U << 10U;

std::string text_of(const YAML::Node& map, const char* key) {
  if (!map.IsMap() || !map[key] || !map[key].IsScalar()) return "";
  return map[key].Scalar();
}

/// One of the files.
struct Config {
  std::filesystem::path file;
  YAML::Node root;
};

/// An entry's map, and the file that has it.
struct Entry {
  std::filesystem::path file;
  YAML::Node map;
};

/// Kubeconfigs while they are read; what is wrong ends in an Error that names the file.
class Reader {
 public:
  explicit Reader(std::vector<Config> configs) : configs_(std::move(configs)) {}

  Result<Access> read(std::string context_name) {
    for (const auto& config : configs_)
      if (context_name.empty()) context_name = text_of(config.root, "current-context");
    ASSAY_TRY(const Entry context, named("contexts", "context", context_name));
    ASSAY_TRY(const Entry cluster, named("clusters", "cluster", text_of(context.map, "cluster")));
    file_ = cluster.file;
    access_.name_space = text_of(context.map, "namespace");
    ASSAY_CHECK(take_cluster(cluster.map));
    // Whoever needs no name to read has no user.
    if (text_of(context.map, "user").empty()) return access_;
    ASSAY_TRY(const Entry user, named("users", "user", text_of(context.map, "user")));
    file_ = user.file;
    ASSAY_CHECK(take_user(user.map, cluster.map));
    return access_;
  }

 private:
  Failure wrong(const std::string& what) const {
    return bad_input(fmt::format("{}: {}", file_.native(), what));
  }

  /// The map `kind` of the entry of that name in the lists of that name.
  Result<Entry> named(const char* list, const char* kind, const std::string& name) {
    std::string others;
    for (const auto& [file, root] : configs_) {
      if (!root[list] || !root[list].IsSequence()) continue;
      for (const auto& entry : root[list]) {
        const std::string found = text_of(entry, "name");
        if (!name.empty() && found == name && entry[kind] && entry[kind].IsMap())
          return Entry{file, YAML::Node(entry[kind])};
        if (!found.empty()) others += (others.empty() ? "" : ", ") + found;
      }
    }
    file_ = configs_.front().file;
    if (name.empty()) return wrong(fmt::format("does not say which {} to use", kind));
    return wrong(fmt::format("has no {} {}{}", kind, in_quotes(name),
                             others.empty() ? "" : "; there are: " + others));
  }

  /// A file that is named, or one in memory with what the kubeconfig itself holds.
  Result<void> take_file(const YAML::Node& map, const char* key, std::filesystem::path& place) {
    const std::string name = text_of(map, key);
    const std::string data_key = fmt::format("{}-data", key);
    const std::string data = text_of(map, data_key.c_str());
    // Relative to the file's folder; what is absolute stays so.
    if (data.empty() && !name.empty()) place = file_.parent_path() / name;
    if (data.empty()) return {};
    const auto bytes = base64_decoded(data);
    if (!bytes) return wrong(fmt::format("{} is not in base64", data_key));
    ASSAY_TRY(auto memory, keep_in_memory(key, *bytes));
    place = path_in_memory(*memory);
    access_.in_memory.push_back(std::move(memory));
    return {};
  }

  Result<void> take_cluster(const YAML::Node& cluster) {
    auto& endpoint = access_.endpoint;
    endpoint.base = text_of(cluster, "server");
    while (endpoint.base.ends_with('/')) endpoint.base.pop_back();
    if (!endpoint.base.starts_with("https://") && !net::is_loopback_url(endpoint.base))
      return wrong(fmt::format("the server {} has to begin with https://",
                               in_quotes(net::shown_url(endpoint.base))));
    if (text_of(cluster, "insecure-skip-tls-verify") == "true")
      return wrong("insecure-skip-tls-verify is not possible here; name a certificate-authority");
    return take_file(cluster, "certificate-authority", endpoint.ca_file);
  }

  Result<void> take_user(const YAML::Node& user, const YAML::Node& cluster) {
    if (user["auth-provider"])
      return wrong("its user logs in by an auth-provider; use exec, a token or a certificate");
    if (user["exec"]) return take_login(user["exec"], cluster);
    access_.token = text_of(user, "token");
    if (const std::string name = text_of(user, "tokenFile"); !name.empty())
      access_.token_file = file_.parent_path() / name;
    ASSAY_CHECK(take_file(user, "client-certificate", access_.endpoint.certificate_file));
    return take_file(user, "client-key", access_.endpoint.key_file);
  }

  Result<void> take_login(const YAML::Node& exec, const YAML::Node& cluster) {
    LoginCommand command{.program = text_of(exec, "command"),
                         .api_version = text_of(exec, "apiVersion"),
                         .hint = text_of(exec, "installHint")};
    if (command.program.empty()) return wrong("exec of its user has no command");
    if (command.api_version != "client.authentication.k8s.io/v1" &&
        command.api_version != "client.authentication.k8s.io/v1beta1")
      return wrong(fmt::format("exec of its user is of {}, which is not known here",
                               in_quotes(command.api_version)));
    if (text_of(exec, "interactiveMode") == "Always")
      return wrong("exec of its user wants a person to answer it (interactiveMode: Always)");
    // Relative to the file's folder, but names without a folder are looked for in PATH.
    if (command.program.find('/') != std::string::npos)
      command.program = file_.parent_path() / command.program;
    if (exec["args"] && exec["args"].IsSequence())
      for (const auto& word : exec["args"])
        if (word.IsScalar()) command.arguments.push_back(word.Scalar());
    if (exec["env"] && exec["env"].IsSequence())
      for (const auto& pair : exec["env"])
        command.environment[text_of(pair, "name")] = text_of(pair, "value");
    command.environment.erase("");
    if (text_of(exec, "provideClusterInfo") == "true") {
      ASSAY_TRY(command.cluster, cluster_info(cluster));
    }
    access_.login = std::make_shared<Login>(std::move(command));
    return {};
  }

  /// What a program is told of the cluster, as JSON.
  Result<std::string> cluster_info(const YAML::Node& cluster) const {
    nlohmann::json info = {{"server", text_of(cluster, "server")}};
    if (!access_.endpoint.ca_file.empty()) {
      ASSAY_TRY(const std::string ca, read_file(access_.endpoint.ca_file, kLargest));
      info["certificate-authority-data"] = base64_encoded(ca);
    }
    return info.dump();
  }

  const std::vector<Config> configs_;
  std::filesystem::path file_;  ///< of what is read at present
  Access access_;
};

Result<Config> read_config(const std::filesystem::path& file) {
  ASSAY_TRY(const std::string text, read_file(file, kLargest));
  try {
    Config config{std::filesystem::absolute(file), YAML::Load(text)};
    if (!config.root.IsMap()) return bad_input(fmt::format("{} is no kubeconfig", file.native()));
    return config;
  } catch (const YAML::Exception& error) {
    return bad_input(fmt::format("{}: {}", file.native(), error.what()));
  }
}

}  // namespace

Result<Access> read_kubeconfig(const std::filesystem::path& file, const std::string& context) {
  return read_kubeconfigs({file}, context);
}

Result<Access> read_kubeconfigs(const std::vector<std::filesystem::path>& files,
                                const std::string& context) {
  std::vector<Config> configs;
  std::optional<Error> missing;
  for (const auto& file : files) {
    std::error_code ignored;
    auto config = read_config(file);
    if (config)
      configs.push_back(std::move(*config));
    else if (std::filesystem::exists(file, ignored))
      return fail(config.error());
    else if (!missing)
      missing = Error{ErrorKind::input, config.error().message};
  }
  if (configs.empty()) return fail(missing.value_or(Error{ErrorKind::input, "no kubeconfig"}));
  try {
    return Reader(std::move(configs)).read(context);
  } catch (const YAML::Exception& error) {
    return bad_input(fmt::format("{}: {}", files.front().native(), error.what()));
  }
}

std::optional<ServiceAccount> own_service_account() {
  const char* const host = std::getenv("KUBERNETES_SERVICE_HOST");
  const char* const port = std::getenv("KUBERNETES_SERVICE_PORT");
  if (host == nullptr || port == nullptr) return std::nullopt;
  return ServiceAccount{.host = host, .port = port};
}

Result<Access> read_service_account(const ServiceAccount& account) {
  Access access;
  const bool is_v6 = account.host.find(':') != account.host.npos;
  access.endpoint.base = fmt::format("https://{}{}{}:{}", is_v6 ? "[" : "", account.host,
                                     is_v6 ? "]" : "", account.port);
  access.endpoint.ca_file = account.folder / "ca.crt";
  access.token_file = account.folder / "token";
  for (const auto& file : {access.endpoint.ca_file, access.token_file}) {
    std::error_code ignored;
    if (!std::filesystem::exists(file, ignored))
      return refused(
          fmt::format("this pod was given no {}: set automountServiceAccountToken", file.native()));
  }
  return access;
}

}  // namespace assay::kubeapi
