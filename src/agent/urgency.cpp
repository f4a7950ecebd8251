// SPDX-License-Identifier: Apache-2.0
#include "urgency.h"

#include <csignal>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

namespace assay::agent {
namespace {

constexpr rlim_t kLongestMicroseconds = 500'000;

void step_back(int /*signal*/) {
  const sched_param none{};
  ::sched_setscheduler(::getpid(), SCHED_OTHER, &none);
}

}  // namespace

bool run_when_woken() {
  if (::gettid() != ::getpid()) return false;
  struct sigaction action {};
  action.sa_handler = step_back;
  action.sa_flags = SA_RESTART;
  rlimit limit{};
  if (::getrlimit(RLIMIT_RTTIME, &limit) != 0) return false;
  limit.rlim_cur = kLongestMicroseconds;
  if (::sigaction(SIGXCPU, &action, nullptr) != 0 || ::setrlimit(RLIMIT_RTTIME, &limit) != 0)
    return false;
  sched_param least{};
  least.sched_priority = ::sched_get_priority_min(SCHED_RR);
  return ::sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &least) == 0;
}

bool runs_when_woken() {
  return (::sched_getscheduler(::getpid()) & ~SCHED_RESET_ON_FORK) == SCHED_RR;
}

}  // namespace assay::agent
