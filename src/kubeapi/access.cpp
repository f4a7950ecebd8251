// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fmt/format.h>
#include <sys/mman.h>
#include <yaml-cpp/yaml.h>

#include <assay/base/text.h>
#include <assay/base/wording.h>
#include <assay/kubeapi/access.h>

namespace assay::kubeapi {
namespace {

/// It is written by hand or by a tool, and YAML in memory is 300 times its text.
constexpr size_t kLargest = 256U << 10U;

/// One kubeconfig while it is read; what is wrong ends in an Error that names the file.
class Reader {
 public:
  explicit Reader(const std::filesystem::path& file) : file_(file) {}

  Result<Access> read(const YAML::Node& root) {
    ASSAY_TRY(const YAML::Node context,
              named(root, "contexts", "context", text_of(root, "current-context")));
    ASSAY_TRY(const YAML::Node cluster,
              named(root, "clusters", "cluster", text_of(context, "cluster")));
    ASSAY_CHECK(take_cluster(cluster));
    // Whoever needs no name to read has no user.
    if (text_of(context, "user").empty()) return access_;
    ASSAY_TRY(const YAML::Node user, named(root, "users", "user", text_of(context, "user")));
    ASSAY_CHECK(take_user(user));
    return access_;
  }

 private:
  Failure wrong(const std::string& what) const {
    return bad_input(fmt::format("{}: {}", file_.native(), what));
  }

  static std::string text_of(const YAML::Node& map, const char* key) {
    if (!map.IsMap() || !map[key] || !map[key].IsScalar()) return "";
    return map[key].Scalar();
  }

  /// The map `kind` of the entry of that name in a list.
  Result<YAML::Node> named(const YAML::Node& root, const char* list, const char* kind,
                           const std::string& name) const {
    if (name.empty()) return wrong(fmt::format("does not say which {} to use", kind));
    if (root[list] && root[list].IsSequence()) {
      for (const auto& entry : root[list])
        if (text_of(entry, "name") == name && entry[kind] && entry[kind].IsMap())
          return YAML::Node(entry[kind]);
    }
    return wrong(fmt::format("has no {} {}", kind, in_quotes(name)));
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
    Fd memory(::memfd_create(key, MFD_CLOEXEC));
    if (!memory.valid()) return refused_errno("cannot keep a certificate in memory", errno);
    ASSAY_CHECK(write_all(memory.get(), *bytes));
    place = fmt::format("/proc/self/fd/{}", memory.get());
    access_.in_memory.push_back(std::make_shared<const Fd>(std::move(memory)));
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

  Result<void> take_user(const YAML::Node& user) {
    if (user["exec"] || user["auth-provider"])
      return wrong("its user needs a program to log in; use a token or a client certificate");
    access_.token = text_of(user, "token");
    if (const std::string name = text_of(user, "tokenFile"); !name.empty())
      access_.token_file = file_.parent_path() / name;
    ASSAY_CHECK(take_file(user, "client-certificate", access_.endpoint.certificate_file));
    return take_file(user, "client-key", access_.endpoint.key_file);
  }

  const std::filesystem::path file_;
  Access access_;
};

}  // namespace

Result<Access> read_kubeconfig(const std::filesystem::path& file) {
  ASSAY_TRY(const std::string text, read_file(file, kLargest));
  try {
    const YAML::Node root = YAML::Load(text);
    if (!root.IsMap()) return bad_input(fmt::format("{} is no kubeconfig", file.native()));
    return Reader(std::filesystem::absolute(file)).read(root);
  } catch (const YAML::Exception& error) {
    return bad_input(fmt::format("{}: {}", file.native(), error.what()));
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
