// SPDX-License-Identifier: Apache-2.0
#include "process/keeper_client.h"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <spawn.h>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace assay::launch {
namespace {

constexpr int kKeeperFd = 3;
constexpr std::string_view kKeeperMark = "ASSAY_KEEPER=1";

/// Our environment, marked. A program that starts apps but does not know the command `keeper` would
/// otherwise run itself again and again.
Result<std::vector<char*>> keeper_environment(std::string& mark) {
  std::vector<char*> env;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    if (*entry == kKeeperMark) {
      return fail(ErrorKind::internal,
                  "this program was started as a keeper but does not handle `keeper FD`");
    }
    env.push_back(*entry);
  }
  env.push_back(mark.data());
  env.push_back(nullptr);
  return env;
}

/// posix_spawn's two helpers with a destructor.
struct SpawnPlan {
  SpawnPlan() {
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;
  ~SpawnPlan() {
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
  }

  posix_spawn_file_actions_t actions = {};
  posix_spawnattr_t attributes = {};
};

}  // namespace

Result<KeeperClient> KeeperClient::spawn() {
  std::string mark(kKeeperMark);
  ASSAY_TRY(const std::vector<char*> env, keeper_environment(mark));
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return refused_errno("cannot make a socket to the keeper process", errno);
  }
  Fd ours(ends[0]);
  const Fd theirs(ends[1]);
  SpawnPlan plan;
  // In this order: should `theirs` be 0, 1 or 2 itself, it must be copied before those are
  // replaced.
  ::posix_spawn_file_actions_adddup2(&plan.actions, theirs.get(), kKeeperFd);
  for (int standard = 0; standard < kKeeperFd; ++standard) {
    ::posix_spawn_file_actions_addopen(&plan.actions, standard, "/dev/null", O_RDWR, 0);
  }
  // A session of its own, and deaf from birth: Ctrl-C and a kill of our process group must not
  // reach it.
  sigset_t all;
  ::sigfillset(&all);
  ::posix_spawnattr_setsigmask(&plan.attributes, &all);
  ::posix_spawnattr_setflags(&plan.attributes,
                             static_cast<short>(POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK));
  char name[] = "assay";
  char command[] = "keeper";
  char fd[] = {'0' + kKeeperFd, '\0'};
  char* const argv[] = {name, command, fd, nullptr};
  pid_t pid = 0;
  const int error =
      ::posix_spawn(&pid, "/proc/self/exe", &plan.actions, &plan.attributes, argv, env.data());
  if (error != 0) return refused_errno("cannot start the keeper process (/proc/self/exe)", error);
  return KeeperClient(pid, std::move(ours));
}

KeeperClient::KeeperClient(KeeperClient&& other) noexcept
    : pid_(std::exchange(other.pid_, 0)), socket_(std::move(other.socket_)) {}

KeeperClient::~KeeperClient() {
  abandon();
}

bool KeeperClient::abandon() {
  socket_.reset();
  if (pid_ <= 0) return true;
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0) {
    if (errno != EINTR) break;
  }
  pid_ = 0;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

Result<Report> KeeperClient::start(const StartOrder& order) {
  ASSAY_CHECK(send_start(socket_.get(), order));
  const auto received = receive_report(socket_.get(), Wait::yes);
  if (!received.message) {
    return refused("the keeper process ended before it could start the app");
  }
  return *received.message;
}

void KeeperClient::stop(StopStep step) {
  if (!socket_.valid()) return;
  // A failure means that the keeper is gone, which the next poll or release finds.
  if (!send_order(socket_.get(), {OrderKind::stop, static_cast<uint32_t>(step)})) return;
}

Received<Report> KeeperClient::poll() {
  if (!socket_.valid()) return {std::nullopt, true};
  return receive_report(socket_.get(), Wait::no);
}

std::optional<Report> KeeperClient::release() {
  std::optional<Report> last;
  if (socket_.valid() && send_order(socket_.get(), {OrderKind::release, 0})) {
    // "ended" may still be on its way before "released".
    while (!last || last->kind != ReportKind::released) {
      const auto received = receive_report(socket_.get(), Wait::yes);
      if (!received.message) break;
      last = received.message;
    }
  }
  abandon();
  return last && last->kind == ReportKind::released ? last : std::nullopt;
}

}  // namespace assay::launch
