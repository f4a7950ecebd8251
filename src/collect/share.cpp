// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <fmt/format.h>
#include <memory>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <assay/base/files.h>
#include <assay/base/text.h>
#include <assay/collect/share.h>
#include <assay/launch/cpu_group.h>

namespace assay::collect {
namespace {

constexpr int kMostCpus = 1024;

sigset_t ending_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) ::sigaddset(&set, signal);
  return set;
}

Result<void> pin(const std::vector<int>& cpus) {
  if (cpus.empty()) return {};
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) CPU_SET(static_cast<size_t>(cpu), &set);
  if (::sched_setaffinity(0, sizeof set, &set) == 0) return {};
  return refused_errno("cannot stay on the chosen cores", errno);
}

int exit_code(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/// The child gets what we get, and we its end.
int await(pid_t child) {
  const sigset_t set = ending_signals();
  while (true) {
    int status = 0;
    if (::waitpid(child, &status, WNOHANG) == child) return exit_code(status);
    const int signal = ::sigwaitinfo(&set, nullptr);
    if (signal > 0 && signal != SIGCHLD) ::kill(child, signal);
  }
}

}  // namespace

std::vector<int> own_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return {0};
  for (int cpu = 0; cpu < kMostCpus; ++cpu)
    if (CPU_ISSET(static_cast<size_t>(cpu), &set)) cpus.push_back(cpu);
  return cpus;
}

Result<std::vector<int>> parse_cpus(const std::string& text) {
  const std::vector<int> own = own_cpus();
  std::vector<int> cpus;
  for (std::string_view rest = text; !rest.empty();) {
    std::string_view range = next_field(rest, ',');
    const bool single = range.find('-') == range.npos;
    const auto first = parse_uint(next_field(range, '-'));
    const auto last = single ? first : parse_uint(range);
    if (!first || !last || *last < *first || *last >= kMostCpus)
      return bad_input(fmt::format("'{}' is no list of cores, like 0-2,5", text));
    for (auto cpu = static_cast<int>(*first); cpu <= static_cast<int>(*last); ++cpu) {
      if (!std::binary_search(own.begin(), own.end(), cpu))
        return bad_input(fmt::format("there is no core {} to run on", cpu));
      cpus.push_back(cpu);
    }
  }
  if (cpus.empty()) return bad_input("a list of cores is like 0-2,5");
  std::sort(cpus.begin(), cpus.end());
  cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
  return cpus;
}

double cores_of(const Share& share) {
  const auto count =
      static_cast<double>(share.cpus.empty() ? own_cpus().size() : share.cpus.size());
  return share.quota > 0 ? std::min(count, share.quota) : count;
}

Result<Inside> enter(const Share& share) {
  if (share.whole()) return Inside{};
  std::unique_ptr<launch::CpuGroup> made;
  if (share.quota > 0) {
    ASSAY_TRY(launch::CpuGroup limited, launch::CpuGroup::make(cores_of(share)));
    made = std::make_unique<launch::CpuGroup>(std::move(limited));
  }
  const sigset_t set = ending_signals();
  sigset_t before;
  ::sigprocmask(SIG_BLOCK, &set, &before);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) return refused_errno("cannot start a process", errno);
  if (child > 0) return Inside{.ended = await(child)};
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) return refused("interrupted");
  launch::CpuGroup* const joined = made.release();  // the other process removes it
  if (joined != nullptr) ASSAY_CHECK(joined->join());
  ASSAY_CHECK(pin(share.cpus));
  return Inside{};
}

}  // namespace assay::collect
