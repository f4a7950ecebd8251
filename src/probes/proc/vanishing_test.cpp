// SPDX-License-Identifier: Apache-2.0
#include "proc/process_files.h"
#include "proc/process_table.h"

#include <array>
#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

#include <assay/probes/group.h>
#include <gtest/gtest.h>

namespace assay::probes {
namespace {

/// A process that waits until it is ended, which leaves nothing of it.
class Child {
 public:
  Child() : pid_(fork()) {
    if (pid_ != 0) return;
    while (true) pause();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() { end(); }

  void end() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

TEST(Vanishing, a_file_whose_process_goes_between_open_and_read_has_no_text) {
  const ProcessFiles files{SysRoot()};
  std::array<char, 4096> buffer{};
  for (const char* name : {"stat", "status", "io", "cgroup"}) {
    Child child;
    const pid_t pid = child.pid();
    const Fd fd = files.open(pid, name);
    ASSERT_TRUE(fd.valid()) << name;
    ASSERT_TRUE(files.read(fd, pid, name, buffer)) << name;
    child.end();
    const auto text = files.read(fd, pid, name, buffer);
    EXPECT_TRUE(!text || text->empty()) << name << ": " << *text;
  }
}

TEST(Vanishing, a_process_that_goes_between_two_reads_is_dropped_and_the_others_stay) {
  const Child stays;
  Child goes;
  AppTarget target;
  target.root = getpid();
  ProcessTable table(SysRoot(), target, {});
  table.refresh();
  const auto knows = [&](pid_t pid) {
    for (const auto& process : table.processes())
      if (process.pid == pid) return true;
    return false;
  };
  const pid_t pid = goes.pid();
  ASSERT_TRUE(knows(pid));
  goes.end();
  table.refresh();
  EXPECT_FALSE(knows(pid));
  EXPECT_TRUE(knows(stays.pid()));
}

TEST(Vanishing, a_process_without_files_is_in_no_group_and_has_no_network) {
  Child child;
  const pid_t pid = child.pid();
  const GroupTree tree{SysRoot()};
  child.end();
  EXPECT_EQ(tree.path_of(pid), "");
  GroupReader reader(SysRoot(), {});
  reader.watch_network_of(pid);
  EXPECT_FALSE(reader.has_network());
}

}  // namespace
}  // namespace assay::probes
