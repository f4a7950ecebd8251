// SPDX-License-Identifier: Apache-2.0
#include "docker/named_files.h"

#include "process/testing.h"

#include <sys/stat.h>

#include <gtest/gtest.h>

namespace assay::launch {
namespace {

namespace fs = std::filesystem;
using testing::TempFolder;

constexpr const char* kTarget = "/run/waggle/data-config.json";

class NamedFilesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_.write("work/data-config.json", "mine");
    folder_.write("secret", "of others");
    policy_.mounts = {{root() / "work", "data-config.json", kTarget, true}};
  }

  fs::path root() const { return fs::canonical(folder_.path()); }
  fs::path config() const { return root() / "work/data-config.json"; }
  DockerArgs mounting(const fs::path& source, const std::string& target = kTarget) const {
    DockerArgs args;
    args.mounts = {{MountKind::volume, "", "/cache", false, {}},
                   {MountKind::bind, source, target, false, {}}};
    return args;
  }
  std::string copied_from(const DockerArgs& args) const {
    return read_file(args.mounts[1].source).value_or("nothing");
  }

  TempFolder folder_;
  Policy policy_;
};

TEST_F(NamedFilesTest, are_mounted_as_they_were_when_judged) {
  DockerArgs args = mounting(config());
  ASSERT_EQ(::chmod(config().c_str(), 0640), 0);
  {
    NamedFiles files = NamedFiles::open(policy_, args);
    EXPECT_EQ(args.mounts[1].source, config());
    fs::remove(config());
    fs::create_symlink(root() / "secret", config());
    ASSERT_TRUE(files.copy_to(root() / "run/mounts", args));
    EXPECT_EQ(args.mounts[1].source, root() / "run/mounts/1/data-config.json");
    EXPECT_EQ(copied_from(args), "mine");
    struct stat info {};
    ASSERT_EQ(::stat(args.mounts[1].source.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777U, 0640U);
  }
  EXPECT_FALSE(fs::exists(root() / "run/mounts"));
}

TEST_F(NamedFilesTest, say_where_a_link_leads_before_they_are_judged) {
  fs::remove(config());
  fs::create_symlink(root() / "secret", config());
  DockerArgs args = mounting(config());
  const NamedFiles files = NamedFiles::open(policy_, args);
  EXPECT_EQ(args.mounts[1].source, root() / "secret");
  EXPECT_EQ(refused_by(policy_, args, {}).size(), 1U);
}

TEST_F(NamedFilesTest, are_only_those_that_a_rule_names) {
  policy_.mounts.push_back({root(), "", "", true});
  for (DockerArgs args : {mounting(root() / "secret"), mounting(config(), "/elsewhere")}) {
    const auto before = args.mounts;
    NamedFiles files = NamedFiles::open(policy_, args);
    ASSERT_TRUE(files.copy_to(root() / "run/mounts", args));
    EXPECT_EQ(args.mounts, before);
    EXPECT_FALSE(fs::exists(root() / "run/mounts"));
  }
}

TEST_F(NamedFilesTest, must_be_files_that_can_be_read) {
  fs::remove(config());
  testing::make_fifo(config());
  DockerArgs args = mounting(config());
  NamedFiles files = NamedFiles::open(policy_, args);
  const auto copied = files.copy_to(root() / "run/mounts", args);
  ASSERT_FALSE(copied);
  EXPECT_EQ(copied.error().message,
            "'" + config().native() + "' cannot be mounted: it is not a regular file");
}

}  // namespace
}  // namespace assay::launch
