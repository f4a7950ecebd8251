// SPDX-License-Identifier: Apache-2.0
#include "login.h"

#include "memory_file.h"
#include "testing/api_server.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
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
    const auto shown = Login(command).credential();
    return shown ? "none" : shown.error().message;
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
  Login login(telling(R"({"token": "w0rd"})"));
  EXPECT_EQ(runs(), 0U);
  const auto shown = login.credential();
  ASSERT_TRUE(shown) << shown.error().message;
  EXPECT_EQ(shown->token, "w0rd");
  EXPECT_FALSE(shown->certificate);
  EXPECT_EQ(login.credential()->token, "w0rd");
  EXPECT_EQ(runs(), 1U);
  login.forget(shown->number);
  EXPECT_EQ(login.credential()->token, "w0rd");
  EXPECT_EQ(runs(), 2U);
}

TEST_F(LoginTest, what_has_expired_is_asked_for_again) {
  const auto runs_for_two = [this](const std::string& expires) {
    Login login(
        telling(fmt::format(R"({{"token": "w0rd", "expirationTimestamp": "{}"}})", expires)));
    const size_t before = runs();
    EXPECT_TRUE(login.credential());
    EXPECT_TRUE(login.credential());
    return runs() - before;
  };
  EXPECT_EQ(runs_for_two("2020-01-01T00:00:00Z"), 2U);
  EXPECT_EQ(runs_for_two("2200-01-01T00:00:00Z"), 1U);
  EXPECT_EQ(runs_for_two("9999-12-31T23:59:59Z"), 1U);
  EXPECT_EQ(runs_for_two("0001-01-01T00:00:00Z"), 1U);
  EXPECT_EQ(runs_for_two("2400-02-29T00:00:00.5+01:00"), 1U);
  EXPECT_EQ(runs_for_two("1969-12-31T23:59:59Z"), 2U);
  EXPECT_EQ(runs_for_two("0002-01-01T00:00:00Z"), 2U);
}

TEST_F(LoginTest, a_certificate_is_one_file_with_its_key) {
  Login login(command(credential(R"({"clientCertificateData": "cert'$(wc -l < runs)'", )"
                                 R"("clientKeyData": "key'$(wc -l < runs)'"})")));
  const auto first = login.credential();
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(first->token, "");
  login.forget(first->number);
  const auto second = login.credential();
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(read_file(path_in_memory(*second->certificate)).value_or(""), "cert2\nkey2");
  EXPECT_EQ(read_file(path_in_memory(*first->certificate)).value_or(""), "cert1\nkey1")
      << "somebody may be about to show it";
}

TEST_F(LoginTest, a_late_refusal_of_an_old_certificate_keeps_the_new_one) {
  Login login(telling(R"({"clientCertificateData": "cert", "clientKeyData": "key"})"));
  const auto old = login.credential();
  ASSERT_TRUE(old) << old.error().message;
  login.forget(old->number);
  ASSERT_TRUE(login.credential());
  login.forget(old->number);
  ASSERT_TRUE(login.credential());
  EXPECT_EQ(runs(), 2U);
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
  for (const auto* never : {"soon", "99", "9999", "9999-02-29T00:00:00Z", "2026-02-29T00:00:00Z",
                            " 999-12-31T00:00:00Z", "9999-12-31T23:59:59"})
    EXPECT_TRUE(has(
        trouble(telling(fmt::format(R"({{"token": "t", "expirationTimestamp": "{}"}})", never))),
        "time that is none"))
        << never;
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
  access.login = std::make_shared<Login>(command("sleep 1000 & echo $! > child; sleep 1000"));
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
  EXPECT_EQ(runs(), 1U);
}

/// Asks in a thread of its own; the text is what came of it.
std::jthread ask(Login& login, std::string& told, const StillWanted& wanted) {
  return std::jthread([&login, &told, wanted] {
    const auto shown = login.credential(wanted);
    told = shown ? shown->token : shown.error().message;
  });
}

TEST_F(LoginTest, whoever_waits_for_a_run_shares_its_failure) {
  Login login(command("until test -e go; do sleep 0.02; done; echo no network >&2; exit 1"));
  std::string first;
  std::string second;
  std::atomic<bool> waits = false;
  {
    const auto one = ask(login, first, {});
    EXPECT_TRUE(soon([&] { return runs() == 1; }));
    const auto two = ask(login, second, [&] { return waits = true; });
    EXPECT_TRUE(soon([&] { return waits.load(); }));
    std::ofstream(folder_ / "go") << "now";
  }
  EXPECT_TRUE(has(first, "no network")) << first;
  EXPECT_EQ(second, first);
  EXPECT_EQ(runs(), 1U);
  EXPECT_FALSE(login.credential());
  EXPECT_EQ(runs(), 2U) << "who comes later tries again";
}

TEST_F(LoginTest, a_run_that_was_stopped_for_one_is_begun_anew_for_another) {
  Login login(
      command("test $(wc -l < runs) = 1 && sleep 1000\n" + credential(R"({"token": "w0rd"})")));
  std::string first;
  std::string second;
  std::atomic<bool> wanted = true;
  std::atomic<bool> waits = false;
  {
    const auto one = ask(login, first, [&] { return wanted.load(); });
    EXPECT_TRUE(soon([&] { return runs() == 1; }));
    const auto two = ask(login, second, [&] { return waits = true; });
    EXPECT_TRUE(soon([&] { return waits.load(); }));
    wanted = false;
  }
  EXPECT_EQ(first, "stopped");
  EXPECT_EQ(second, "w0rd");
}

TEST_F(LoginTest, an_exception_while_it_runs_makes_nobody_wait_for_ever) {
  Login login(telling(R"({"token": "w0rd"})"));
  EXPECT_THROW((void)login.credential([]() -> bool { throw std::runtime_error("no memory"); }),
               std::runtime_error);
  EXPECT_EQ(login.credential()->token, "w0rd");
}

TEST_F(LoginTest, requests_show_the_token_and_a_refusal_asks_for_another) {
  const testing::ApiServer server({testing::answer(401, "{}"), testing::answer(200, "{}")});
  Access access = server.access();
  access.login = std::make_shared<Login>(command(fmt::format(
      R"(echo '{{"apiVersion": "{}", "kind": "ExecCredential", "status": {{"token": "t'$(wc -l < runs)'"}}}}')",
      kVersion)));
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
  access.login = std::make_shared<Login>(telling(R"({"token": "w0rd"})"));
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
  access.login = std::make_shared<Login>(
      telling(R"({"clientCertificateData": "cert", "clientKeyData": "key"})"));
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

TEST_F(LoginTest, a_certificate_that_comes_after_a_token_is_shown_too) {
  const testing::ApiServer server({testing::answer(401, "{}"), testing::answer(200, "{}")});
  Access access = server.access();
  access.login = std::make_shared<Login>(
      command("test $(wc -l < runs) = 1 && { " + credential(R"({"token": "t"})") + "; exit; }\n" +
              credential(R"({"clientCertificateData": "cert", "clientKeyData": "key"})")));
  Client client(access);
  net::Stopper stopper;
  EXPECT_EQ(client.call({.path = "/a"}, stopper)->status, 401);
  EXPECT_EQ(client.call({.path = "/b"}, stopper)->status, 200);
  EXPECT_EQ(server.connections(), 2);
  const auto asked = server.asked();
  ASSERT_EQ(asked.size(), 2U);
  EXPECT_TRUE(has(asked[0], "Authorization: Bearer t\r\n")) << asked[0];
  EXPECT_FALSE(has(asked[1], "Authorization")) << asked[1];
}

}  // namespace
}  // namespace assay::kubeapi
