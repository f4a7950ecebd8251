// SPDX-License-Identifier: Apache-2.0
#include "process/testing.h"

#include "process/cgroup.h"
#include "process/owner.h"

#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <poll.h>
#include <spawn.h>
#include <sstream>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <assay/base/text.h>
#include <gtest/gtest.h>

namespace assay::launch::testing {
namespace fs = std::filesystem;

TempFolder::TempFolder() {
  std::string name = (fs::temp_directory_path() / "assay-launch-XXXXXX").native();
  EXPECT_NE(::mkdtemp(name.data()), nullptr);
  path_ = name;
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void TempFolder::write(const std::string& name, const std::string& content) const {
  fs::create_directories((path_ / name).parent_path());
  std::ofstream(path_ / name) << content;
}

std::string TempFolder::read(const std::string& name) const {
  std::stringstream text;
  text << std::ifstream(path_ / name).rdbuf();
  return text.str();
}

Request shell(const TempFolder& folder, const std::string& script, int run) {
  Request request;
  request.session_id = "test-" + folder.path().filename().native();
  request.run = run;
  request.target.command = {"/bin/sh", "-c", script};
  request.target.workdir = folder.path();
  request.stdout_file = folder.path() / "out";
  request.stderr_file = folder.path() / "err";
  return request;
}

Result<std::unique_ptr<RunningApp>> launched(const Request& request, const SysRoot& root) {
  ASSAY_TRY(auto app, make_process_launcher(root)->start(request));
  ASSAY_CHECK(app->begin());
  return app;
}

std::unique_ptr<RunningApp> start(const Request& request) {
  auto app = launched(request);
  if (!app) {
    ADD_FAILURE() << app.error().message;
    return nullptr;
  }
  return std::move(*app);
}

bool wait_readable(int fd, int milliseconds) {
  pollfd waiting = {fd, POLLIN, 0};
  return ::poll(&waiting, 1, milliseconds) == 1;
}

Exit wait_exit(RunningApp& app) {
  EXPECT_TRUE(wait_readable(app.exit_fd()));
  const auto exit = app.exited();
  EXPECT_TRUE(exit.has_value());
  return exit.value_or(Exit{});
}

bool is_running(pid_t pid) {
  const auto stat = read_stat(SysRoot(), pid);
  return stat && stat->state != 'Z' && stat->state != 'X';
}

bool wait_gone(pid_t pid) {
  const Fd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  return !process.valid() || wait_readable(process.get());
}

void make_fifo(const fs::path& fifo) {
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
}

std::string read_line_from_fifo(const fs::path& fifo) {
  // For reading and writing: opening does not wait for the other side, the poll below does.
  const Fd fd(::open(fifo.c_str(), O_RDWR | O_CLOEXEC));
  std::string line;
  while (wait_readable(fd.get())) {
    char c = 0;
    if (::read(fd.get(), &c, 1) != 1) break;
    if (c == '\n') return line;
    line += c;
  }
  ADD_FAILURE() << "nothing came through " << fifo;
  return line;
}

pid_t to_pid(const std::string& text) {
  return static_cast<pid_t>(parse_int(trim(text)).value_or(0));
}

bool can_make_groups() {
  return Cgroup::make(SysRoot(), find_cgroup_places(SysRoot()),
                      group_name("probe", 0, Owner::self(SysRoot())), Limits{})
      .has_value();
}

pid_t spawn_owner(const TempFolder& folder, const std::string& script, std::string& line) {
  make_fifo(folder.path() / "ready");
  std::string place = folder.path().native();
  std::string text = script;
  char name[] = "launch_test";
  char command[] = "owner";
  char* const argv[] = {name, command, place.data(), text.data(), nullptr};
  pid_t pid = 0;
  posix_spawnattr_t own_group = {};
  ::posix_spawnattr_init(&own_group);
  ::posix_spawnattr_setflags(&own_group, POSIX_SPAWN_SETPGROUP);
  EXPECT_EQ(::posix_spawn(&pid, "/proc/self/exe", nullptr, &own_group, argv, environ), 0);
  ::posix_spawnattr_destroy(&own_group);
  line = read_line_from_fifo(folder.path() / "ready");
  return pid;
}

void kill_owner(pid_t owner) {
  ASSERT_EQ(::kill(-owner, SIGKILL), 0);
  ASSERT_EQ(::waitpid(owner, nullptr, 0), owner);
}

std::vector<std::string> own_group_folders(pid_t pid) {
  const probes::CgroupPaths paths = probes::cgroups_of(SysRoot(), pid);
  std::vector<std::string> folders;
  for (const auto& folder :
       {paths.v2, paths.cpu, paths.cpuacct, paths.memory, paths.blkio, paths.pids}) {
    if (folder.find("/assay-") != std::string::npos) folders.push_back(folder);
  }
  return folders;
}

int owner_main(const std::string& folder, const std::string& script) {
  Request request;
  request.session_id = "owner-" + fs::path(folder).filename().native();
  request.run = 1;
  request.target.command = {"/bin/sh", "-c", script};
  request.target.workdir = folder;
  auto app = launched(request);
  if (!app) return 1;
  ::pause();
  return 0;
}

int tell_signals_main(const std::string& fifo) {
  sigset_t polite;
  ::sigemptyset(&polite);
  ::sigaddset(&polite, SIGINT);
  ::sigaddset(&polite, SIGTERM);
  ::sigprocmask(SIG_BLOCK, &polite, nullptr);
  std::ofstream(fifo) << "up" << std::endl;
  int signal = 0;
  while (::sigwait(&polite, &signal) == 0) std::ofstream(fifo) << signal << std::endl;
  return 0;
}

}  // namespace assay::launch::testing
