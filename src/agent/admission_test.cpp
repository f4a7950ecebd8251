// SPDX-License-Identifier: Apache-2.0
#include "admission.h"

#include "testing/machine.h"

#include <sys/stat.h>

#include <gtest/gtest.h>

namespace assay::agent {
namespace {

using net::Origin;

const std::string kReader = "reader-reader-reader";
const std::string kBoss = "boss-boss-boss-boss-boss";
constexpr uid_t kOwn = 990;

class AdmissionTest : public ::testing::Test {
 protected:
  AdmissionTest() {
    const std::vector<TokenSettings> settings = {
        {write("reader.token", kReader), {Role::read}},
        {write("boss.token", kBoss), {Role::goals, Role::limits}},
    };
    tokens = Tokens::load(settings).value();
  }

  std::filesystem::path write(const std::string& name, const std::string& text) {
    machine.write("/" + name, text);
    auto file = machine.root().path("/" + name);
    EXPECT_EQ(::chmod(file.c_str(), 0600), 0);
    return file;
  }
  static net::ServerRequest from(Origin origin, const std::string& token = "") {
    net::ServerRequest request;
    request.origin = origin;
    request.host = "127.0.0.1:9410";
    if (!token.empty()) request.authorization = "Bearer " + token;
    return request;
  }
  int status(const net::ServerRequest& request, Role role) const {
    return admit(request, role, {tokens, "10.0.0.7:9410", "pole-7", kOwn}).status;
  }

  testing::Machine machine;
  Tokens tokens;
};

TEST_F(AdmissionTest, reading_is_open_here_and_takes_a_token_elsewhere) {
  EXPECT_EQ(status(from(Origin::unix_socket), Role::read), 200);
  EXPECT_EQ(status(from(Origin::loopback), Role::read), 200);
  EXPECT_EQ(status(from(Origin::network), Role::read), 401);
  EXPECT_EQ(status(from(Origin::network, kReader), Role::read), 200);
  EXPECT_EQ(status(from(Origin::network, kBoss), Role::read), 403);
  EXPECT_EQ(status(from(Origin::loopback, kBoss), Role::read), 200) << "open to all here";
}

TEST_F(AdmissionTest, an_unknown_token_opens_nothing_that_is_not_open) {
  for (const auto origin : {Origin::unix_socket, Origin::loopback, Origin::network}) {
    auto request = from(origin, "not-a-token-of-ours");
    request.user = 0;
    EXPECT_EQ(status(request, Role::goals), 401);
    EXPECT_EQ(status(request, Role::read), origin == Origin::network ? 401 : 200);
  }
  auto lower = from(Origin::network);
  lower.authorization = "bearer " + kReader;
  EXPECT_EQ(status(lower, Role::read), 200) << "the scheme's case does not matter";
  auto basic = from(Origin::network);
  basic.authorization = "Basic " + kReader;
  EXPECT_EQ(status(basic, Role::read), 401);
}

TEST_F(AdmissionTest, writing_takes_the_role_everywhere) {
  for (const auto origin : {Origin::unix_socket, Origin::loopback, Origin::network}) {
    EXPECT_EQ(status(from(origin), Role::limits), 401);
    EXPECT_EQ(status(from(origin, kReader), Role::limits), 403);
    EXPECT_EQ(status(from(origin, kBoss), Role::limits), 200);
    EXPECT_EQ(status(from(origin, kBoss), Role::captures), 403);
  }
}

TEST_F(AdmissionTest, root_and_our_own_user_may_write_over_the_unix_socket) {
  auto request = from(Origin::unix_socket);
  for (const auto& [user, expected] : std::map<uid_t, int>{{0, 200}, {kOwn, 200}, {1000, 401}}) {
    request.user = user;
    EXPECT_EQ(status(request, Role::limits), expected) << user;
  }
}

TEST_F(AdmissionTest, a_page_whose_name_leads_here_is_not_this_machine) {
  auto request = from(Origin::loopback);
  for (const char* host : {"localhost:9410", "LOCALHOST", "127.0.0.1", "127.1.2.3:1", "[::1]:9410",
                           "10.0.0.7:9410", "pole-7:9410", ""}) {
    request.host = host;
    EXPECT_EQ(status(request, Role::read), 200) << host;
  }
  for (const char* host : {"evil.example:9410", "127.0.0.1.evil.example", "localhost.evil.example",
                           "10.0.0.8", "[::2]:9410", "127.evil", "["}) {
    request.host = host;
    EXPECT_EQ(status(request, Role::read), 403) << host;
  }
  request.host = "evil.example";
  request.authorization = "Bearer " + kReader;
  EXPECT_EQ(status(request, Role::read), 200) << "no page knows a token";
}

TEST_F(AdmissionTest, a_page_of_another_place_may_not_ask) {
  auto request = from(Origin::loopback);
  request.page = "http://127.0.0.1:9410";
  EXPECT_EQ(status(request, Role::read), 200);
  for (const char* page : {"https://evil.example", "null", "http://127.0.0.1:8000"}) {
    request.page = page;
    EXPECT_EQ(status(request, Role::read), 403) << page;
  }
}

TEST_F(AdmissionTest, names_the_token_by_its_file) {
  const auto admission =
      admit(from(Origin::network, kBoss), Role::goals, {tokens, "", "pole-7", kOwn});
  EXPECT_EQ(admission.who, "boss.token (goals)");
}

}  // namespace
}  // namespace assay::agent
