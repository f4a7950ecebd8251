// SPDX-License-Identifier: Apache-2.0
#include "process/app_child.h"

#include "process/tree.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <linux/sched.h>
#include <string>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include <assay/base/files.h>

namespace assay::launch {
namespace {

struct Problem {
  Stage stage = Stage::none;
  int error = 0;
};

struct Files {
  Fd in;
  Fd out;
  Fd err;
};

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> list;
  list.reserve(texts.size() + 1);
  for (const auto& text : texts) list.push_back(const_cast<char*>(text.c_str()));
  list.push_back(nullptr);
  return list;
}

Fd open_log(const std::string& file) {
  const char* path = file.empty() ? "/dev/null" : file.c_str();
  return Fd(::open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0600));
}

/// v1's `tasks`, unlike cgroup.procs, moves a thread of one's own without the kernel-wide lock
/// whose taking can last tens of milliseconds; whoever joins has one thread only.
std::vector<std::string> doors(const std::vector<std::string>& folders, bool unified) {
  std::vector<std::string> files;
  files.reserve(folders.size());
  for (const auto& folder : folders)
    files.push_back(folder + (unified ? "/cgroup.procs" : "/tasks"));
  return files;
}

/// 0, or the errno. Allocates nothing.
int enter(const std::vector<std::string>& files) {
  for (const auto& file : files) {
    if (const int error = write_text(file, "0"); error != 0) return error;
  }
  return 0;
}

Problem join_groups(const StartOrder& order, bool joined) {
  if (joined) return {};
  const int error = enter(doors(order.cgroups, order.unified));
  return error == 0 ? Problem{} : Problem{Stage::cgroup, error};
}

void reset_signals() {
  struct sigaction standard = {};
  standard.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) ::sigaction(signal, &standard, nullptr);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

/// The child's part: returns only when something is in the way.
Problem become_app(const StartOrder& order, const Files& files, pid_t keeper, bool joined) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != keeper) ::_exit(127);  // died before the line above could count
  ::setsid();
  if (const Problem problem = join_groups(order, joined); problem.stage != Stage::none)
    return problem;
  ::dup2(files.in.get(), STDIN_FILENO);
  ::dup2(files.out.get(), STDOUT_FILENO);
  ::dup2(files.err.get(), STDERR_FILENO);
  if (!order.workdir.empty() && ::chdir(order.workdir.c_str()) != 0) return {Stage::workdir, errno};
  const std::vector<char*> argv = pointers(order.argv);
  std::vector<char*> env = pointers(order.env);
  reset_signals();
  // Not execvpe: the command is to be found in the PATH that the app will have.
  environ = env.data();
  ::execvp(argv.front(), argv.data());
  return {Stage::exec, errno};
}

/// A fork that is born in the v2 group, which is much faster than to move it there; -1 where the
/// kernel cannot.
pid_t fork_in_group(const std::string& folder) {
  const Fd group(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!group.valid()) return -1;
  clone_args args = {};
  args.flags = CLONE_INTO_CGROUP;
  args.exit_signal = SIGCHLD;
  args.cgroup = static_cast<uint64_t>(group.get());
  return static_cast<pid_t>(::syscall(SYS_clone3, &args, sizeof args));
}

Problem read_problem(int fd) {
  Problem problem;
  while (true) {
    const ssize_t n = ::read(fd, &problem, sizeof problem);
    if (n < 0 && errno == EINTR) continue;
    return n == static_cast<ssize_t>(sizeof problem) ? problem : Problem{};
  }
}

}  // namespace

Spawned spawn_app(const StartOrder& order) {
  Files files{Fd(::open("/dev/null", O_RDONLY | O_CLOEXEC)), open_log(order.stdout_file), Fd()};
  if (!files.out.valid()) return {0, Stage::stdout_file, errno};
  files.err = open_log(order.stderr_file);
  if (!files.err.valid()) return {0, Stage::stderr_file, errno};

  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) return {0, Stage::fork, errno};
  const Fd from_child(ends[0]);
  Fd to_parent(ends[1]);

  const pid_t keeper = ::getpid();
  const bool direct = order.unified && order.cgroups.size() == 1;
  pid_t pid = direct ? fork_in_group(order.cgroups.front()) : -1;
  const bool joined = pid >= 0;
  if (!joined) pid = ::fork();
  if (pid < 0) return {0, Stage::fork, errno};
  if (pid == 0) {
    const Problem problem = become_app(order, files, keeper, joined);
    const ssize_t told = ::write(to_parent.get(), &problem, sizeof problem);
    ::_exit(told > 0 ? 127 : 126);
  }
  to_parent.reset();  // its copy in the child closes with the exec, which ends the read below
  const Problem problem = read_problem(from_child.get());
  if (problem.stage == Stage::none) return {pid, Stage::none, 0};
  ::waitpid(pid, nullptr, 0);
  return {0, problem.stage, problem.error};
}

int try_to_join(const std::vector<std::string>& folders, bool unified) {
  const std::vector<std::string> files = doors(folders, unified);
  const pid_t pid = ::fork();
  if (pid < 0) return errno;
  if (pid == 0) ::_exit(enter(files));
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return errno;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : EINVAL;
}

}  // namespace assay::launch
