// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

#include <assay/base/files.h>
#include <assay/base/secret.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(Secret, is_the_same_only_as_itself) {
  EXPECT_TRUE(is_same_secret("abcd", "abcd"));
  EXPECT_FALSE(is_same_secret("abcd", "abce"));
  EXPECT_FALSE(is_same_secret("abcd", "abcdabcd"));
  EXPECT_FALSE(is_same_secret("abcd", ""));
  EXPECT_FALSE(is_same_secret("", ""));
}

TEST(Secret, is_made_once_and_for_its_owner_alone) {
  std::string name = (std::filesystem::temp_directory_path() / "assay-secret-XXXXXX").native();
  ASSERT_NE(::mkdtemp(name.data()), nullptr);
  const auto file = std::filesystem::path(name) / "below" / "token";
  const auto made = own_secret(file);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->size(), 64U);
  EXPECT_EQ(own_secret(file).value_or(""), *made);
  struct stat status {};
  ASSERT_EQ(::stat(file.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  ASSERT_EQ(::chmod(file.c_str(), 0644), 0);
  EXPECT_FALSE(own_secret(file));
  ASSERT_EQ(::chmod(file.c_str(), 0600), 0);
  ASSERT_TRUE(write_file(file, "short\n"));
  EXPECT_FALSE(own_secret(file));
  std::filesystem::remove_all(name);
}

}  // namespace
}  // namespace assay
