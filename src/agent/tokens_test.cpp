// SPDX-License-Identifier: Apache-2.0
#include "tokens.h"

#include "testing/machine.h"

#include <sys/stat.h>

#include <gtest/gtest.h>

namespace assay::agent {
namespace {

class TokensTest : public ::testing::Test {
 protected:
  std::filesystem::path write(const std::string& name, const std::string& text,
                              mode_t mode = 0600) {
    machine.write("/" + name, text);
    const auto file = machine.root().path("/" + name);
    EXPECT_EQ(::chmod(file.c_str(), mode), 0);
    return file;
  }
  /// What is said about one that cannot be used.
  std::string error_of(const std::filesystem::path& file) {
    const std::vector<TokenSettings> settings = {{file, {Role::read}}};
    const auto tokens = Tokens::load(settings);
    return tokens ? "" : tokens.error().message.substr(file.native().size());
  }

  testing::Machine machine;
};

TEST_F(TokensTest, each_has_its_roles_and_the_name_of_its_file) {
  const std::vector<TokenSettings> settings = {
      {write("reader", "aaaaaaaaaaaaaaaaaaaa\n"), {Role::read}},
      {write("boss", "bbbbbbbbbbbbbbbbbbbb"), {Role::goals, Role::limits}},
  };
  const auto tokens = Tokens::load(settings);
  ASSERT_TRUE(tokens) << tokens.error().message;
  const Token* boss = tokens->find("bbbbbbbbbbbbbbbbbbbb");
  ASSERT_NE(boss, nullptr);
  EXPECT_EQ(boss->name, "boss");
  EXPECT_TRUE(boss->may(Role::limits));
  EXPECT_FALSE(boss->may(Role::read));
  ASSERT_NE(tokens->find("aaaaaaaaaaaaaaaaaaaa"), nullptr) << "without the end of its line";
}

TEST_F(TokensTest, what_is_no_token_finds_none) {
  const std::vector<TokenSettings> settings = {{write("t", std::string(20, 'a')), {Role::read}}};
  const auto tokens = Tokens::load(settings);
  ASSERT_TRUE(tokens);
  EXPECT_EQ(tokens->find(""), nullptr);
  EXPECT_EQ(tokens->find(std::string(19, 'a')), nullptr);
  EXPECT_EQ(tokens->find(std::string(40, 'a')), nullptr);
  EXPECT_EQ(tokens->find(std::string(19, 'a') + "b"), nullptr);
  EXPECT_EQ(Tokens().find(""), nullptr);
}

TEST_F(TokensTest, one_that_others_may_read_or_change_is_refused) {
  const std::string secret(20, 'a');
  EXPECT_EQ(error_of(write("a", secret, 0644)),
            ": others than its owner may read or change this token; chmod 600 it");
  EXPECT_NE(error_of(write("b", secret, 0620)), "");
  EXPECT_EQ(error_of(write("c", secret, 0440)), "") << "a group may read it";
}

TEST_F(TokensTest, what_cannot_be_a_secret_is_refused) {
  EXPECT_EQ(error_of(write("a", "short")), ": a token is one word of 16 to 4094 ASCII characters");
  EXPECT_NE(error_of(write("b", "")), "");
  EXPECT_NE(error_of(write("c", "two words that are long")), "");
  EXPECT_NE(error_of(write("d", std::string(5000, 'a'))), "");
  EXPECT_EQ(error_of(machine.root().path("/none")), ": cannot be read: No such file or directory");
  EXPECT_EQ(error_of(machine.root().path("/proc")), ": is no file with a token");
}

TEST_F(TokensTest, two_files_with_one_token_are_refused) {
  const std::vector<TokenSettings> settings = {
      {write("a", std::string(20, 'a')), {Role::read}},
      {write("b", std::string(20, 'a')), {Role::limits}},
  };
  const auto tokens = Tokens::load(settings);
  ASSERT_FALSE(tokens);
  EXPECT_NE(tokens.error().message.find("is the same token as a"), std::string::npos);
}

}  // namespace
}  // namespace assay::agent
