// SPDX-License-Identifier: Apache-2.0
#include "group_watch.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <poll.h>
#include <set>

#include <gtest/gtest.h>

namespace assay::agent {
namespace {

namespace fs = std::filesystem;

/// A folder that looks like a hierarchy. Unlike the kernel's, its groups have files only where a
/// test writes them.
class Hierarchy : public GroupListener {
 public:
  Hierarchy() {
    std::string name = (fs::temp_directory_path() / "assay-groups-XXXXXX").native();
    folder_ = ::mkdtemp(name.data());
  }
  Hierarchy(const Hierarchy&) = delete;
  Hierarchy& operator=(const Hierarchy&) = delete;
  ~Hierarchy() override { fs::remove_all(folder_); }

  void make(const std::string& path) {
    fs::create_directories(folder_ + path);
    std::ofstream(folder_ + path + "/cgroup.procs") << "";
  }
  void enter(const std::string& path) { std::ofstream(folder_ + path + "/cgroup.procs") << "1\n"; }
  void remove(const std::string& path) { fs::remove_all(folder_ + path); }
  GroupWatch watch() { return GroupWatch::start(folder_, false, *this).value(); }
  const std::string& folder() const { return folder_; }

  bool group_appeared(const std::string& path) override {
    there.insert(path);
    return path.find("closed") == path.npos;
  }
  void group_gone(const std::string& path) override { there.erase(path); }
  void members_changed(const std::string& path) override { changed.insert(path); }

  std::set<std::string> there;
  std::set<std::string> changed;

 private:
  std::string folder_;
};

using Paths = std::set<std::string>;

TEST(GroupWatch, finds_what_is_there_already) {
  Hierarchy groups;
  groups.make("/docker/one");
  groups.make("/system.slice/ssh.service");
  const auto watch = groups.watch();
  EXPECT_EQ(groups.there,
            (Paths{"/docker", "/docker/one", "/system.slice", "/system.slice/ssh.service"}));
}

TEST(GroupWatch, sees_groups_come_and_go) {
  Hierarchy groups;
  groups.make("/docker");
  auto watch = groups.watch();
  groups.make("/docker/one");
  groups.make("/new/deep/group");
  watch.poll();
  EXPECT_EQ(groups.there,
            (Paths{"/docker", "/docker/one", "/new", "/new/deep", "/new/deep/group"}));
  groups.remove("/docker/one");
  groups.remove("/new");
  watch.poll();
  EXPECT_EQ(groups.there, (Paths{"/docker"}));
}

TEST(GroupWatch, tells_when_processes_enter) {
  Hierarchy groups;
  groups.make("/docker/one");
  auto watch = groups.watch();
  watch.poll();
  EXPECT_EQ(groups.changed, Paths{});
  groups.enter("/docker/one");
  watch.poll();
  EXPECT_EQ(groups.changed, Paths{"/docker/one"});
}

TEST(GroupWatch, does_not_look_into_closed_groups) {
  Hierarchy groups;
  groups.make("/closed/inner");
  auto watch = groups.watch();
  groups.make("/closed/second");
  watch.poll();
  EXPECT_EQ(groups.there, Paths{"/closed"});
}

TEST(GroupWatch, leaves_nothing_behind_of_groups_that_are_gone) {
  Hierarchy groups;
  auto watch = groups.watch();
  for (int i = 0; i < 1000; ++i) {
    groups.make("/group" + std::to_string(i));
    groups.remove("/group" + std::to_string(i));
    if (i % 100 == 0) watch.poll();
  }
  watch.poll();
  EXPECT_EQ(groups.there, Paths{});
  EXPECT_EQ(watch.groups(), 1U) << "the top";
}

TEST(GroupWatch, its_descriptor_is_readable_when_there_is_something) {
  Hierarchy groups;
  const auto watch = groups.watch();
  pollfd waiting = {watch.fd(), POLLIN, 0};
  EXPECT_EQ(::poll(&waiting, 1, 0), 0);
  groups.make("/docker");
  EXPECT_EQ(::poll(&waiting, 1, 1000), 1);
}

TEST(GroupWatch, of_no_folder_is_an_error) {
  Hierarchy groups;
  EXPECT_FALSE(GroupWatch::start("/nosuch/folder", false, groups));
}

}  // namespace
}  // namespace assay::agent
