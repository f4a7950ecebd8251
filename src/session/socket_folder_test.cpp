// SPDX-License-Identifier: Apache-2.0
#include "socket_folder.h"

#include <cstdlib>
#include <fmt/format.h>
#include <string>

#include <assay/base/process_id.h>
#include <gtest/gtest.h>

namespace assay::session {
namespace {

namespace fs = std::filesystem;

/// With a runtime folder of its own.
class SocketFolderTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "assay-runtime-XXXXXX").native();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    runtime_ = name;
    if (const char* old = std::getenv("XDG_RUNTIME_DIR")) before_ = old;
    ::setenv("XDG_RUNTIME_DIR", name.c_str(), 1);
  }
  void TearDown() override {
    ::unsetenv("XDG_RUNTIME_DIR");
    if (!before_.empty()) ::setenv("XDG_RUNTIME_DIR", before_.c_str(), 1);
    fs::remove_all(runtime_);
  }
  fs::path make(const ProcessId& owner) const {
    fs::path folder = runtime_ / fmt::format("assay-hooks-{}-abcdef", owner.text());
    fs::create_directory(folder);
    return folder;
  }

  fs::path runtime_;
  std::string before_;
};

TEST_F(SocketFolderTest, is_for_this_user_alone_and_short_enough_for_an_address) {
  const auto folder = SocketFolder::make();
  ASSERT_TRUE(folder) << folder.error().message;
  const fs::path place = (*folder)->socket().parent_path();
  EXPECT_EQ(place.parent_path(), runtime_);
  EXPECT_EQ(fs::status(place).permissions(), fs::perms::owner_all);
  const size_t name = (*folder)->socket().native().size() - runtime_.native().size();
  EXPECT_LE(name + std::string("/run/user/4294967295").size(), 107U);
}

TEST_F(SocketFolderTest, of_the_dead_is_removed_and_all_others_stay) {
  ProcessId owner = ProcessId::self(SysRoot());
  owner.boot.clear();
  const auto own = SocketFolder::make();
  const fs::path other_namespace = make({1 << 22, 1, owner.pid_namespace + 1, ""});
  const fs::path gone = make({1 << 22, 1, owner.pid_namespace, ""});
  const fs::path reused = make({owner.pid, owner.start_ticks + 1, owner.pid_namespace, ""});
  const fs::path foreign = runtime_ / "assay-hooks-mine";
  fs::create_directory(foreign);
  EXPECT_EQ(SocketFolder::remove_leftovers(), 2);
  EXPECT_FALSE(fs::exists(gone));
  EXPECT_FALSE(fs::exists(reused));
  EXPECT_TRUE(fs::exists(other_namespace));
  EXPECT_TRUE(fs::exists(foreign));
  EXPECT_TRUE(fs::exists((*own)->socket().parent_path()));
}

}  // namespace
}  // namespace assay::session
