// SPDX-License-Identifier: Apache-2.0
#include "login.h"

#include "testing/api_server.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <thread>

#include <assay/base/text.h>
#include <assay/kubeapi/client.h>
#include <gtest/gtest.h>

namespace assay::kubeapi {
namespace {

constexpr const char* kVersion = "client.authentication.k8s.io/v1";

class LoginTest : public ::testing::Test {
 protected:
  LoginTest() {
    std::string name = (std::filesystem::temp_directory_path() / "assay-login-XXXXXX").native();
    folder_ = ::mkdtemp(name.data());
  }
  ~LoginTest() override { std::filesystem::remove_all(folder_); }

  /// A script that counts its runs in the file `runs`, and then does this.
  LoginCommand command(const std::string& script) const {
    const auto file = folder_ / "login";
    std::ofstream(file) << "#!/bin/sh\ncd " << folder_.native() << "\necho >> runs\n" << script;
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    return {.program = file, .api_version = kVersion};
  }
  /// The line of a script that tells this status.
  static std::string credential(const std::string& status) {
    return fmt::format(R"(echo '{{"apiVersion": "{}", "kind": "ExecCredential", "status": {}}}')",
                       kVersion, status);
  }
  /// One that tells this status.
  LoginCommand telling(const std::string& status) const { return command(credential(status)); }
  size_t runs() const { return read_file(folder_ / "runs").value_or("").size(); }
  std::string trouble(const LoginCommand& command) const {
    const auto login = Login::run(command);
    return login ? "none" : login.error().message;
  }

  std::filesystem::path folder_;
};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Whether it comes true in time.
bool soon(const std::function<bool()>& holds) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!holds() && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(Milliseconds(10));
  return holds();
}

/// Nobody may have asked for its end yet.
bool has_ended(const std::string& pid) {
  const std::string stat = read_file("/proc/" + pid + "/stat").value_or("");
  return stat.empty() || has(stat, ") Z ");
}

/// The text without white space around it; empty as long as there is none.
std::string word_in(const std::filesystem::path& file) {
  return std::string(trim(read_file(file).value_or("")));
}

TEST_F(LoginTest, what_has_no_end_is_asked_for_once) {
  const auto login = Login::run(telling(R"({"token": "w0rd"})"));
  ASSERT_TRUE(login) << login.error().message;
  EXPECT_EQ((*login)->token().value_or(""), "w0rd");
  EXPECT_EQ(runs(), 1U);
  EXPECT_EQ((*login)->certificate_file(), "");
  (*login)->forget((*login)->token().value());
  EXPECT_EQ((*login)->token().value_or(""), "w0rd");
  EXPECT_EQ(runs(), 2U);
}

TEST_F(LoginTest, what_has_expired_is_asked_for_again) {
  const auto old =
      Login::run(telling(R"({"token": "w0rd", "expirationTimestamp": "2020-01-01T00:00:00Z"})"));
  ASSERT_TRUE(old) << old.error().message;
  EXPECT_TRUE((*old)->token());
  EXPECT_EQ(runs(), 2U);
  const auto fresh =
      Login::run(telling(R"({"token": "w0rd", "expirationTimestamp": "2200-01-01T00:00:00Z"})"));
  ASSERT_TRUE(fresh) << fresh.error().message;
  EXPECT_TRUE((*fresh)->token());
  EXPECT_EQ(runs(), 3U);
}

TEST_F(LoginTest, a_certificate_changes_where_it_is) {
  const auto login = Login::run(command(fmt::format(
      R"(echo '{{"apiVersion": "{}", "kind": "ExecCredential", "status":
      {{"clientCertificateData": "cert'$(wc -l < runs)'", "clientKeyData": "key"}}}}')",
      kVersion)));
  ASSERT_TRUE(login) << login.error().message;
  EXPECT_EQ((*login)->token().value_or("?"), "");
  const auto file = (*login)->certificate_file();
  EXPECT_EQ(read_file(file).value_or(""), "cert1");
  (*login)->forget((*login)->token().value());
  ASSERT_TRUE((*login)->token());
  EXPECT_EQ((*login)->certificate_file(), file);
  EXPECT_EQ(read_file(file).value_or(""), "cert2");
  EXPECT_EQ(read_file((*login)->key_file()).value_or(""), "key");
}

TEST_F(LoginTest, a_failure_has_the_programs_last_words_and_never_its_output) {
  const std::string failed = trouble(command("echo s3cret; echo please log in >&2; exit 3"));
  EXPECT_TRUE(has(failed, "ended with 3: 'please log in'")) << failed;
  EXPECT_FALSE(has(failed, "s3cret"));
  EXPECT_TRUE(has(trouble(command("kill -9 $$")), "was killed by 9"));
  const std::string nonsense = trouble(command("echo s3cret"));
  EXPECT_TRUE(has(nonsense, "is no ExecCredential of client.authentication.k8s.io/v1")) << nonsense;
  EXPECT_FALSE(has(nonsense, "s3cret"));
  EXPECT_TRUE(has(trouble(telling("{}")), "neither a token nor a certificate"));
  EXPECT_TRUE(has(trouble(telling(R"({"clientKeyData": "k"})")), "or its key alone"));
  EXPECT_TRUE(has(trouble(telling(R"({"token": "t", "expirationTimestamp": "soon"})")),
                  "time that is none"));
  EXPECT_TRUE(has(trouble({.program = folder_ / "none", .api_version = kVersion, .hint = "get it"}),
                  "cannot be run: No such file or directory; get it"));
}

TEST_F(LoginTest, a_program_that_does_not_end_is_ended_with_what_it_started) {
  auto hanging = command("echo one moment >&2; sleep 1000 & echo $! > child; sleep 1000");
  std::string late;
  // A machine that is busy may take longer to start it.
  for (hanging.patience = Milliseconds(300); word_in(folder_ / "child").empty();
       hanging.patience *= 2) {
    ASSERT_LT(hanging.patience, Milliseconds(60'000));
    late = trouble(hanging);
  }
  EXPECT_TRUE(has(late, "does not end within")) << late;
  EXPECT_TRUE(has(late, ": 'one moment'")) << late;
  EXPECT_TRUE(soon([&] { return has_ended(word_in(folder_ / "child")); }));
}

TEST_F(LoginTest, what_a_program_leaves_running_with_its_standard_error_is_not_waited_for) {
  const std::string leaves = "sleep 1000 > /dev/null & echo $! > child; echo it runs on >&2\n";
  const auto end_child = [&] {
    const std::string child = word_in(folder_ / "child");
    EXPECT_FALSE(has_ended(child)) << "others may need it";
    ::kill(std::stoi(child), SIGKILL);
  };
  EXPECT_EQ(trouble(command(leaves + credential(R"({"token": "w0rd"})"))), "none");
  end_child();
  const std::string failed = trouble(command(leaves + "exit 3"));
  EXPECT_TRUE(has(failed, "ended with 3: 'it runs on'")) << failed;
  end_child();
}

TEST_F(LoginTest, of_many_words_the_last_are_told) {
  const std::string failed = trouble(
      command("seq 1000 >&2; echo 'the session has expired:' >&2; echo log in >&2; exit 1"));
  EXPECT_TRUE(has(failed, "ended with 1: '…")) << failed;
  EXPECT_TRUE(failed.ends_with(" 999 1000 the session has expired: log in'")) << failed;
  EXPECT_LT(failed.size(), 500U);
}

TEST_F(LoginTest, a_call_that_is_stopped_does_not_wait_for_the_program) {
  const testing::ApiServer server({});
  Access access = server.access();
  const std::string expired =
      R"("status": {"token": "t", "expirationTimestamp": "2020-01-01T00:00:00Z"}}')";
  const auto login = Login::run(command(fmt::format(
      R"(test $(wc -l < runs) = 1 || {{ sleep 1000 & echo $! > child; sleep 1000; }}
         echo '{{"apiVersion": "{}", "kind": "ExecCredential", {})",
      kVersion, expired)));
  ASSERT_TRUE(login) << login.error().message;
  access.login = *login;
  net::Stopper stopper;
  std::atomic<bool> wanted = true;
  Client first(access);
  Client second(access);
  second.set_wanted([&] { return wanted.load(); });
  const auto call = [&](Client& client, std::string& told) {
    return std::jthread([&] {
      const auto response = client.call({.path = "/a"}, stopper);
      told = response ? "answered" : response.error().message;
    });
  };
  const auto begin = std::chrono::steady_clock::now();
  std::string told_first;
  std::string told_second;
  {
    const auto one = call(first, told_first);
    EXPECT_TRUE(soon([&] { return !word_in(folder_ / "child").empty(); }));
    {
      const auto two = call(second, told_second);
      wanted = false;
    }
    EXPECT_EQ(told_second, "stopped");
    EXPECT_FALSE(has_ended(word_in(folder_ / "child")));
    stopper.stop();
  }
  EXPECT_EQ(told_first, "stopped");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(45));
  EXPECT_TRUE(soon([&] { return has_ended(word_in(folder_ / "child")); }));
  EXPECT_EQ(runs(), 2U);
}

TEST_F(LoginTest, requests_show_the_token_and_a_refusal_asks_for_another) {
  const testing::ApiServer server({testing::answer(401, "{}"), testing::answer(200, "{}")});
  Access access = server.access();
  const auto login = Login::run(command(fmt::format(
      R"(echo '{{"apiVersion": "{}", "kind": "ExecCredential", "status": {{"token": "t'$(wc -l < runs)'"}}}}')",
      kVersion)));
  ASSERT_TRUE(login) << login.error().message;
  access.login = *login;
  Client client(access);
  net::Stopper stopper;
  EXPECT_EQ(client.call({.path = "/a"}, stopper)->status, 401);
  EXPECT_EQ(client.call({.path = "/b"}, stopper)->status, 200);
  const auto asked = server.asked();
  ASSERT_EQ(asked.size(), 2U);
  EXPECT_TRUE(has(asked[0], "Authorization: Bearer t1\r\n")) << asked[0];
  EXPECT_TRUE(has(asked[1], "Authorization: Bearer t2\r\n")) << asked[1];
}

TEST_F(LoginTest, a_refusal_from_behind_a_proxy_asks_for_no_other_token) {
  const testing::ApiServer server(
      {testing::answer(401, "who are you?"), testing::answer(200, "{}")});
  Access access = server.access();
  const auto login = Login::run(telling(R"({"token": "w0rd"})"));
  ASSERT_TRUE(login) << login.error().message;
  access.login = *login;
  Client client(access);
  net::Stopper stopper;
  const std::string behind = "/api/v1/namespaces/assay/pods/agent:9410/proxy/api/v1/apps";
  EXPECT_EQ(client.call({.path = behind}, stopper)->status, 401);
  EXPECT_EQ(client.call({.path = "/b"}, stopper)->status, 200);
  EXPECT_EQ(runs(), 1U);
}

TEST_F(LoginTest, another_certificate_is_shown_on_another_connection) {
  const testing::ApiServer server({testing::answer(200, "{}"), testing::answer(401, "{}"),
                                   testing::answer(200, "{}"), testing::answer(200, "{}")});
  Access access = server.access();
  const auto login =
      Login::run(telling(R"({"clientCertificateData": "cert", "clientKeyData": "key"})"));
  ASSERT_TRUE(login) << login.error().message;
  access.login = *login;
  Client client(access);
  net::Stopper stopper;
  EXPECT_EQ(client.call({.path = "/a"}, stopper)->status, 200);
  EXPECT_EQ(client.call({.path = "/b"}, stopper)->status, 401);
  EXPECT_EQ(server.connections(), 1);
  EXPECT_EQ(client.call({.path = "/c"}, stopper)->status, 200);
  EXPECT_EQ(client.call({.path = "/d"}, stopper)->status, 200);
  EXPECT_EQ(server.connections(), 2);
  EXPECT_EQ(runs(), 2U);
}

}  // namespace
}  // namespace assay::kubeapi
