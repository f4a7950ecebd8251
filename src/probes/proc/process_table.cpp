// SPDX-License-Identifier: Apache-2.0
#include "proc/process_table.h"

#include "clock_ticks.h"

#include <algorithm>

namespace assay::probes {
namespace {

constexpr size_t kKeptOpen = 100;
constexpr size_t kBufferSize = 16384;

/// The kernel's clock of a process's CPU time has nanoseconds where /proc/PID/stat has 10 ms.
std::optional<double> clock_seconds(std::optional<clockid_t> clock) {
  timespec time{};
  if (!clock || ::clock_gettime(*clock, &time) != 0) return std::nullopt;
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

}  // namespace

ProcessTable::ProcessTable(const SysRoot& root, const AppTarget& target, ProcessReads reads)
    : root_(root),
      files_(root),
      finder_(root, target),
      reads_(reads),
      keeper_(target.include_root ? 0 : target.root),
      buffer_(kBufferSize) {
  if (target.root != 0) join(target.root);
}

void ProcessTable::refresh() {
  for (auto& process : processes_) read(process);
  drop_gone();
  found_.clear();
  finder_.find(known_, found_);
  for (const pid_t pid : found_) {
    if (!knows(pid)) join(pid);
  }
}

bool ProcessTable::knows(pid_t pid) const {
  return std::binary_search(known_.begin(), known_.end(), pid);
}

void ProcessTable::join(pid_t pid) {
  Process process;
  process.pid = pid;
  process.keeper = pid == keeper_;
  if (processes_.size() < kKeptOpen) {
    process.status_file = files_.open(pid, "status");
    if (reads_.usage) process.stat_file = files_.open(pid, "stat");
    if (reads_.io) process.io_file = files_.open(pid, "io");
  }
  clockid_t clock = 0;
  if (root_.is_live() && ::clock_getcpuclockid(pid, &clock) == 0) process.clock = clock;
  read(process);
  if (process.gone) return;
  if (process.keeper && process.io) process.io_before = *process.io;
  processes_.push_back(std::move(process));
  known_.insert(std::upper_bound(known_.begin(), known_.end(), pid), pid);
}

void ProcessTable::read(Process& process) {
  process.gone = !read_status(process) || (reads_.usage && !read_usage(process));
  if (!process.gone && reads_.io) read_io(process);
}

bool ProcessTable::read_status(Process& process) {
  const auto text = files_.read(process.status_file, process.pid, "status", buffer_);
  const auto status = text ? parse_process_status(*text) : std::nullopt;
  if (!status) return false;
  process.status = *status;
  return true;
}

bool ProcessTable::read_usage(Process& process) {
  const auto text = files_.read(process.stat_file, process.pid, "stat", buffer_);
  const auto stat = text ? parse_process_stat(*text) : std::nullopt;
  if (!stat) return false;
  auto& own = process.own;
  own.user_seconds = ticks_to_seconds(stat->user_ticks);
  own.system_seconds = ticks_to_seconds(stat->system_ticks);
  own.cpu_seconds = clock_seconds(process.clock).value_or(own.user_seconds + own.system_seconds);
  own.major_faults = static_cast<double>(stat->major_faults);
  own.faults = static_cast<double>(stat->minor_faults) + own.major_faults;
  auto& children = process.children;
  children.user_seconds = ticks_to_seconds(stat->child_user_ticks);
  children.system_seconds = ticks_to_seconds(stat->child_system_ticks);
  children.cpu_seconds = children.user_seconds + children.system_seconds;
  children.major_faults = static_cast<double>(stat->child_major_faults);
  children.faults = static_cast<double>(stat->child_minor_faults) + children.major_faults;
  return true;
}

void ProcessTable::read_io(Process& process) {
  const auto text = files_.read(process.io_file, process.pid, "io", buffer_);
  if (const auto io = text ? parse_process_io(*text) : std::nullopt) process.io = io;
}

void ProcessTable::drop_gone() {
  const auto gone = [](const Process& p) { return p.gone; };
  const bool any = std::any_of(processes_.begin(), processes_.end(), gone);
  if (!any) return;
  processes_.erase(std::remove_if(processes_.begin(), processes_.end(), gone), processes_.end());
  known_.clear();
  for (const auto& process : processes_) known_.push_back(process.pid);
  std::sort(known_.begin(), known_.end());
}

}  // namespace assay::probes
