// SPDX-License-Identifier: Apache-2.0
#include "testing/temp_folder.h"

#include <sys/stat.h>
#include <vector>

#include <assay/base/files.h>
#include <assay/promapi/target_file.h>
#include <gtest/gtest.h>

namespace assay::promapi {
namespace {

using testing::TempFolder;

ino_t inode_of(const std::filesystem::path& file) {
  struct stat found = {};
  EXPECT_EQ(::stat(file.c_str(), &found), 0);
  return found.st_ino;
}

TEST(TargetFile, IsWhatPrometheusReads) {
  const TempFolder folder;
  const auto file = folder.path() / "assay.json";
  const std::vector<TargetGroup> groups{
      {{"node-1:9410", "[::1]:9410"}, {{"node.name", "a\"b"}, {"__scheme__", "https"}}}, {{}, {}}};
  ASSERT_TRUE(write_target_file(file, groups));
  EXPECT_EQ(*read_file(file), R"([
  {
    "labels": {
      "__scheme__": "https",
      "node_name": "a\"b"
    },
    "targets": [
      "node-1:9410",
      "[::1]:9410"
    ]
  },
  {
    "labels": {},
    "targets": []
  }
]
)");
  ASSERT_TRUE(write_target_file(file, {}));
  EXPECT_EQ(*read_file(file), "[]\n");
}

TEST(TargetFile, IsReplacedWholeAndOnlyWhenItChanges) {
  const TempFolder folder;
  const auto file = folder.path() / "assay.json";
  std::vector<TargetGroup> groups{{{"node-1:9410"}, {}}};
  ASSERT_TRUE(write_target_file(file, groups));
  const std::filesystem::path other = folder.path() / "held";
  std::filesystem::create_hard_link(file, other);  // so that its inode is not used again
  ASSERT_TRUE(write_target_file(file, groups));
  EXPECT_EQ(inode_of(file), inode_of(other));
  groups[0].targets[0] = "node-2:9410";
  ASSERT_TRUE(write_target_file(file, groups));
  EXPECT_NE(inode_of(file), inode_of(other));
}

TEST(TargetFile, TellsWhereItCouldNotBeWritten) {
  const TempFolder folder;
  const auto file = folder.path() / "none" / "assay.json";
  const auto written = write_target_file(file, {});
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().message.find(file.native()), std::string::npos)
      << written.error().message;
}

}  // namespace
}  // namespace assay::promapi
