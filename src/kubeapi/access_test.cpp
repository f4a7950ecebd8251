// SPDX-License-Identifier: Apache-2.0
#include "login.h"
#include "memory_file.h"

#include <cstdlib>
#include <fstream>

#include <assay/kubeapi/access.h>
#include <gtest/gtest.h>

namespace assay::kubeapi {
namespace {

class AccessFiles : public ::testing::Test {
 protected:
  AccessFiles() {
    std::string name = (std::filesystem::temp_directory_path() / "assay-kube-XXXXXX").native();
    folder_ = ::mkdtemp(name.data());
  }
  ~AccessFiles() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }
  /// A kubeconfig with this cluster and user.
  Result<Access> read(const std::string& cluster, const std::string& user) const {
    return read_kubeconfig(write("config",
                                 "current-context: near\n"
                                 "contexts:\n"
                                 "- {name: far, context: {cluster: other, user: u}}\n"
                                 "- {name: near, context: {cluster: c, user: u}}\n"
                                 "clusters: [{name: other, cluster: {server: x}},\n"
                                 "           {name: c, cluster: {" +
                                     cluster + "}}]\nusers: [{name: u, user: {" + user + "}}]\n"));
  }
  std::string trouble(const std::string& cluster, const std::string& user) const {
    const auto access = read(cluster, user);
    return access ? "none" : access.error().message.substr(folder_.native().size());
  }

  std::filesystem::path folder_;
};

TEST_F(AccessFiles, the_current_context_decides_and_files_are_beside_the_kubeconfig) {
  const auto access = read("server: 'https://node:6443/', certificate-authority: ca.crt",
                           "client-certificate: /etc/me.crt, client-key: me.key, token: word");
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(access->endpoint.base, "https://node:6443");
  EXPECT_EQ(access->endpoint.ca_file, folder_ / "ca.crt");
  EXPECT_EQ(access->endpoint.certificate_file, "/etc/me.crt");
  EXPECT_EQ(access->endpoint.key_file, folder_ / "me.key");
  EXPECT_EQ(access->token, "word");
  EXPECT_TRUE(access->token_file.empty());
}

TEST_F(AccessFiles, a_context_may_have_a_namespace) {
  const auto file = write("lab",
                          "current-context: a\n"
                          "contexts: [{name: a, context: {cluster: c, namespace: hydro}},\n"
                          "           {name: b, context: {cluster: c}},\n"
                          "           {name: n, context: {cluster: c, namespace: }}]\n"
                          "clusters: [{name: c, cluster: {server: 'https://a'}}]\n");
  EXPECT_EQ(read_kubeconfig(file)->name_space, "hydro");
  EXPECT_EQ(read_kubeconfig(file, "b")->name_space, "");
  EXPECT_EQ(read_kubeconfig(file, "n")->name_space, "");
}

TEST_F(AccessFiles, a_token_can_be_in_a_file) {
  const auto access = read("server: 'https://node:6443'", "tokenFile: token");
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(access->token_file, folder_ / "token");
}

TEST_F(AccessFiles, certificates_within_the_kubeconfig_become_files_in_memory) {
  const auto access = read("server: 'https://node:6443', certificate-authority-data: aGVsbG8=",
                           "client-certificate-data: aGVsbG8h, client-key-data: aGVsbG8hIQ==");
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(read_file(access->endpoint.ca_file).value_or(""), "hello");
  EXPECT_EQ(read_file(access->endpoint.certificate_file).value_or(""), "hello!");
  // curl reads it once for each connection.
  EXPECT_EQ(read_file(access->endpoint.key_file).value_or(""), "hello!!");
  EXPECT_EQ(read_file(access->endpoint.key_file).value_or(""), "hello!!");
}

TEST_F(AccessFiles, what_cannot_work_is_refused_with_its_reason) {
  EXPECT_EQ(trouble("server: 'http://node:8080'", ""),
            "/config: the server 'http://node:8080' has to begin with https://");
  EXPECT_EQ(trouble("server: 'https://n', insecure-skip-tls-verify: true", ""),
            "/config: insecure-skip-tls-verify is not possible here; name a certificate-authority");
  EXPECT_EQ(trouble("server: 'https://n', certificate-authority-data: '*'", ""),
            "/config: certificate-authority-data is not in base64");
  EXPECT_EQ(trouble("server: 'https://n'", "auth-provider: {name: gcp}"),
            "/config: its user logs in by an auth-provider; use exec, a token or a certificate");
  EXPECT_EQ(trouble("server: 'https://n'", "exec: {args: [a]}"),
            "/config: exec of its user has no command");
  EXPECT_EQ(trouble("server: 'https://n'", "exec: {command: login, apiVersion: v9}"),
            "/config: exec of its user is of 'v9', which is not known here");
  EXPECT_EQ(trouble("server: 'https://n'",
                    "exec: {command: login, apiVersion: client.authentication.k8s.io/v1, "
                    "interactiveMode: Always}"),
            "/config: exec of its user wants a person to answer it (interactiveMode: Always)");
  EXPECT_TRUE(read("server: 'http://127.0.0.1:8001'", ""));
}

TEST_F(AccessFiles, what_is_no_kubeconfig_is_an_error) {
  EXPECT_FALSE(read_kubeconfig(folder_ / "none"));
  for (const char* text :
       {"", "- a", "{", "a: [", "current-context: x", "current-context: x\ncontexts: 5",
        "current-context: x\ncontexts: [{name: x}]",
        "current-context: x\ncontexts: [{name: x, context: {cluster: c}}]\nclusters: [5]"})
    EXPECT_FALSE(read_kubeconfig(write("bad", text))) << text;
}

TEST_F(AccessFiles, another_context_can_be_named) {
  const auto file = write("two",
                          "current-context: a\n"
                          "contexts: [{name: a, context: {cluster: a}},\n"
                          "           {name: b, context: {cluster: b}}]\n"
                          "clusters: [{name: a, cluster: {server: 'https://a'}},\n"
                          "           {name: b, cluster: {server: 'https://b'}}]\n");
  EXPECT_EQ(read_kubeconfig(file)->endpoint.base, "https://a");
  EXPECT_EQ(read_kubeconfig(file, "b")->endpoint.base, "https://b");
  const auto none = read_kubeconfig(file, "c");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message, file.native() + ": has no context 'c'; there are: a, b");
}

TEST_F(AccessFiles, of_several_files_the_first_that_has_a_name_counts) {
  std::filesystem::create_directory(folder_ / "more");
  const auto first = write("first",
                           "contexts: [{name: near, context: {cluster: c, user: u}}]\n"
                           "users: [{name: u, user: {client-key: me.key}}]\n");
  const auto second =
      write("more/second",
            "current-context: near\n"
            "contexts: [{name: near, context: {cluster: x, user: x}}]\n"
            "clusters: [{name: c, cluster: {server: 'https://c', certificate-authority: ca.crt}}]\n"
            "users: [{name: u, user: {client-key: other.key}}]\n");
  const auto access = read_kubeconfigs({folder_ / "none", first, second});
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(access->endpoint.base, "https://c");
  EXPECT_EQ(access->endpoint.key_file, folder_ / "me.key");
  EXPECT_EQ(access->endpoint.ca_file, folder_ / "more/ca.crt") << "beside the file that names it";
  EXPECT_FALSE(read_kubeconfigs({folder_ / "none", folder_ / "nothing"}));
  EXPECT_FALSE(read_kubeconfigs({first, write("bad", "{")})) << "what is there has to be right";
}

TEST_F(AccessFiles, a_program_tells_who_the_user_is) {
  const auto script = write("login.sh",
                            "#!/bin/sh\n"
                            "echo \"$KUBERNETES_EXEC_INFO\" > \"$1\"\n"
                            "echo '{\"apiVersion\": \"client.authentication.k8s.io/v1beta1\", "
                            "\"kind\": \"ExecCredential\", \"status\": {\"token\": \"'$WORD'\", "
                            "\"clientCertificateData\": \"c\", \"clientKeyData\": \"k\"}}'\n");
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  const auto access =
      read("server: 'https://n', certificate-authority-data: aGVsbG8=",
           "exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: ./login.sh, "
           "args: [" +
               (folder_ / "told").native() +
               "], env: [{name: WORD, value: w0rd}], provideClusterInfo: true}");
  ASSERT_TRUE(access) << access.error().message;
  ASSERT_TRUE(access->login);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "told")) << "nobody has asked the cluster yet";
  const auto shown = access->login->credential();
  ASSERT_TRUE(shown) << shown.error().message;
  EXPECT_EQ(shown->token, "w0rd");
  EXPECT_EQ(read_file(path_in_memory(*shown->certificate)).value_or(""), "c\nk");
  const std::string told = read_file(folder_ / "told").value_or("");
  EXPECT_NE(told.find(R"("certificate-authority-data":"aGVsbG8=","server":"https://n")"),
            std::string::npos)
      << told;
}

TEST_F(AccessFiles, a_pod_has_its_service_account) {
  const ServiceAccount account{.folder = folder_, .host = "10.96.0.1", .port = "443"};
  EXPECT_FALSE(read_service_account(account));
  write("ca.crt", "a certificate");
  write("token", "word\n");
  const auto access = read_service_account(account);
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(access->endpoint.base, "https://10.96.0.1:443");
  EXPECT_EQ(access->endpoint.ca_file, folder_ / "ca.crt");
  EXPECT_EQ(access->token_file, folder_ / "token");
  const auto v6 = read_service_account({.folder = folder_, .host = "fd00::1", .port = "443"});
  ASSERT_TRUE(v6);
  EXPECT_EQ(v6->endpoint.base, "https://[fd00::1]:443");
}

TEST(OwnServiceAccount, is_known_by_the_environment) {
  ::unsetenv("KUBERNETES_SERVICE_HOST");
  EXPECT_FALSE(own_service_account());
  ::setenv("KUBERNETES_SERVICE_HOST", "10.96.0.1", 1);
  ::setenv("KUBERNETES_SERVICE_PORT", "443", 1);
  const auto account = own_service_account();
  ::unsetenv("KUBERNETES_SERVICE_HOST");
  ::unsetenv("KUBERNETES_SERVICE_PORT");
  ASSERT_TRUE(account);
  EXPECT_EQ(account->host, "10.96.0.1");
  EXPECT_EQ(account->port, "443");
}

}  // namespace
}  // namespace assay::kubeapi
