// SPDX-License-Identifier: Apache-2.0
#include "load_meter.h"

#include <algorithm>
#include <cmath>
#include <thread>
#include <unistd.h>

#include <assay/base/text.h>
#include <assay/probes/group.h>

namespace assay::collect {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kWindow{250};
constexpr int kMostWindows = 16;
constexpr double kSame = 6;  ///< percent

double now() {
  return std::chrono::duration<double>(SteadyClock::now().time_since_epoch()).count();
}

/// "cpu3 user nice system idle iowait ...": guests are part of user.
void add_line(std::string_view line, CpuTimes& sum) {
  constexpr int kIdle = 3;
  constexpr int kGuest = 8;
  for (int field = 0; field < kGuest && !line.empty(); ++field) {
    const auto ticks = parse_uint(next_field(line, ' '));
    if (!ticks) continue;
    sum.all += static_cast<double>(*ticks);
    if (field == kIdle) sum.idle += static_cast<double>(*ticks);
  }
}

}  // namespace

CpuTimes parse_cpu_times(std::string_view stat, const std::vector<int>& cpus) {
  CpuTimes sum;
  while (!stat.empty()) {
    std::string_view line = next_field(stat, '\n');
    std::string_view name = next_field(line, ' ');
    if (!name.starts_with("cpu")) continue;
    name.remove_prefix(3);
    const auto cpu = parse_int(name);
    if (cpu && std::find(cpus.begin(), cpus.end(), static_cast<int>(*cpu)) != cpus.end())
      add_line(line, sum);
  }
  return sum;
}

LoadMeter::LoadMeter(const Share& share, SysRoot root)
    : root_(std::move(root)),
      cpus_(share.cpus.empty() ? own_cpus() : share.cpus),
      quota_(share.quota > 0 ? cores_of(share) : 0) {
  if (quota_ > 0)
    group_ = std::make_unique<probes::GroupReader>(root_, probes::cgroups_of(root_, ::getpid()));
}

LoadMeter::~LoadMeter() = default;

CpuTimes LoadMeter::read() const {
  if (!group_) return parse_cpu_times(root_.read("/proc/stat").value_or(""), cpus_);
  probes::GroupUse use;
  group_->read(use);
  const double all = now() * quota_;
  return {all - use[probes::Use::cpu_seconds], all};
}

std::optional<double> LoadMeter::percent(const CpuTimes& before, const CpuTimes& after) {
  const double all = after.all - before.all;
  const double idle = after.idle - before.idle;
  if (!(all > 0) || std::isnan(idle)) return std::nullopt;
  return std::clamp(100 * (1 - idle / all), 0.0, 100.0);
}

std::optional<double> LoadMeter::window() const {
  const CpuTimes before = read();
  std::this_thread::sleep_for(kWindow);
  return percent(before, read());
}

Result<std::optional<double>> LoadMeter::settled(const std::function<bool()>& wanted) const {
  auto last = window();
  for (int i = 1; i < kMostWindows && last; ++i) {
    if (!wanted()) return refused("interrupted");
    const auto next = window();
    if (next && std::abs(*next - *last) <= kSame) return std::optional((*last + *next) / 2);
    last = next;
  }
  return last;
}

}  // namespace assay::collect
