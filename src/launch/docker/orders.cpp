// SPDX-License-Identifier: Apache-2.0
#include "docker/orders.h"

#include <array>
#include <csignal>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

namespace assay::launch {
namespace {

constexpr std::array<const char*, 3> kSignals = {"SIGINT", "SIGTERM", "SIGKILL"};
constexpr std::array<int, 3> kSignalNumbers = {SIGINT, SIGTERM, SIGKILL};
constexpr auto kPatience = Milliseconds(2000);

}  // namespace

Orders::Orders(const net::Endpoint& endpoint, std::string id, int process)
    : engine_(endpoint), id_(std::move(id)), process_(process) {
  engine_.set_patience(kPatience);
  thread_ = std::jthread([this] {
    while (const auto step = next()) obey(*step);
  });
}

Orders::~Orders() {
  const Lock lock(mutex_);
  over_ = true;
  changed_.notify_one();
}

void Orders::stop(StopStep step) {
  const Lock lock(mutex_);
  // A daemon that hangs must not hold up the stronger step behind the weaker one.
  step_ = step;
  changed_.notify_one();
}

std::optional<StopStep> Orders::next() {
  Lock lock(mutex_);
  while (!step_ && !over_) changed_.wait(lock);
  return std::exchange(step_, std::nullopt);
}

/// An engine that does not answer, or refuses, must not keep the app alive: where we may, we signal
/// it ourselves.
void Orders::obey(StopStep step) {
  const auto index = static_cast<size_t>(step);
  if (const auto state = engine_.inspect(id_); state && state->paused) was_paused_ = true;
  const auto told = engine_.kill(id_, kSignals[index]);
  if (told || told.error().kind == ErrorKind::input) return;
  was_deaf_ = true;
  ::syscall(SYS_pidfd_send_signal, process_, kSignalNumbers[index], nullptr, 0);
}

}  // namespace assay::launch
