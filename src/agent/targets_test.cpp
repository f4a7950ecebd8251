// SPDX-License-Identifier: Apache-2.0
#include "targets.h"

#include "testing/temp_folder.h"

#include <nlohmann/json.hpp>

#include <assay/base/files.h>
#include <gtest/gtest.h>

namespace assay::agent {
namespace {

class TargetsFileTest : public ::testing::Test {
 protected:
  /// The address in the file that is written for this one.
  std::string named(const std::string& address) const {
    const auto file = TargetsFile::write(path_, address, "node-1");
    EXPECT_TRUE(file);
    const auto json = nlohmann::json::parse(read_file(path_).value_or("[]"));
    EXPECT_EQ(json.at(0).at("labels").at("instance"), "node-1");
    return json.at(0).at("targets").at(0);
  }

  promapi::testing::TempFolder folder_;
  const std::filesystem::path path_ = folder_.path() / "targets.json";
};

TEST_F(TargetsFileTest, names_an_address_that_can_be_reached) {
  EXPECT_EQ(named("127.0.0.1:9410"), "127.0.0.1:9410");
  EXPECT_EQ(named("0.0.0.0:9410"), "node-1:9410");
  EXPECT_EQ(named("[::]:9410"), "node-1:9410");
}

TEST_F(TargetsFileTest, does_not_replace_what_is_something_else) {
  for (const char* text : {"{}", "root:x:0:0", "[1]", R"([{"targets": ["a:1", "b:1"]}])",
                           R"([{"targets": ["a:1"], "labels": {"team": "x"}}])"}) {
    ASSERT_TRUE(write_file(path_, text));
    EXPECT_FALSE(TargetsFile::write(path_, "127.0.0.1:9410", "node-1")) << text;
    EXPECT_EQ(read_file(path_).value(), text);
  }
  ASSERT_TRUE(write_file(path_, R"([{"targets": ["a:1"], "labels": {"instance": "a"}}])"));
  EXPECT_TRUE(TargetsFile::write(path_, "127.0.0.1:9410", "node-1")) << "of an earlier life";
}

TEST_F(TargetsFileTest, is_there_for_as_long_as_the_daemon_is) {
  {
    auto file = TargetsFile::write(path_, "127.0.0.1:9410", "node-1");
    ASSERT_TRUE(file);
    const TargetsFile kept = std::move(*file);
    file = TargetsFile::write(folder_.path() / "other.json", "127.0.0.1:1", "node-1");
    EXPECT_TRUE(std::filesystem::exists(path_));
  }
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(TargetsFileTest, of_a_daemon_that_listens_nowhere_is_refused) {
  const auto file = TargetsFile::write(path_, "", "node-1");
  ASSERT_FALSE(file);
  EXPECT_NE(file.error().message.find("--listen"), std::string::npos);
}

}  // namespace
}  // namespace assay::agent
