// SPDX-License-Identifier: Apache-2.0
#include "group/group_text.h"
#include "text/fields.h"
#include "text/pressure.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <assay/base/text.h>
#include <assay/probes/group.h>

namespace assay::probes {

/// Places in `files_`; v1 and v2 have their own files, and share the places.
enum GroupReader::File : uint8_t {
  kCpuUsage,  // cpuacct.usage, cpu.stat
  kCpuParts,
  kThrottling,
  kMemoryUsage,
  kMemoryStat,
  kMemoryPeak,
  kMemoryEvents,  // memory.failcnt, memory.events
  kOomKills,      // memory.oom_control; v2: memory.swap.current
  kDiskBytes,     // io.stat
  kDiskCounts,
  kThreads,
};

namespace {

/// Shared by all readers of the thread: what is read is taken apart before the next file.
std::array<char, 65536>& scratch() {
  static thread_local std::array<char, 65536> buffer;
  return buffer;
}

/// The kernel makes such a file anew for each read, so one read has all of it.
std::string_view read_once(int fd) {
  auto& buffer = scratch();
  const ssize_t length = fd < 0 ? -1 : ::pread(fd, buffer.data(), buffer.size(), 0);
  if (length <= 0) return {};
  return {buffer.data(), static_cast<size_t>(length)};
}

std::optional<double> number(std::string_view text) {
  const auto value = parse_uint(trim(text));
  if (!value) return std::nullopt;
  return static_cast<double>(*value);
}

void set_if(std::optional<double> value, double& place) {
  if (value) place = *value;
}

std::optional<double> keyed(std::string_view text, std::string_view key) {
  const auto value = keyed_uint(text, key);
  if (!value) return std::nullopt;
  return static_cast<double>(*value);
}

/// Of a file with one number; nothing for "max", for what v1 writes when there is no limit, and for
/// what is not there.
std::optional<double> limit_in(const SysRoot& root, const std::string& folder, const char* file) {
  if (folder.empty()) return std::nullopt;
  const auto text = root.read(folder + file);
  const auto value = text ? number(*text) : std::nullopt;
  constexpr double kNoLimit = 1e18;
  return value && *value < kNoLimit ? value : std::nullopt;
}

/// cpu.weight of v2 as cpu.shares of v1, by the formula that runtimes use the other way round.
std::optional<double> shares_of_weight(std::optional<double> weight) {
  if (!weight) return std::nullopt;
  return std::max(2.0, 2 + (*weight - 1) * 262142 / 9999);
}

ino_t network_of(const SysRoot& root, std::string_view process) {
  struct stat found = {};
  const std::string path = root.path(fmt::format("/proc/{}/ns/net", process)).native();
  return ::stat(path.c_str(), &found) == 0 ? found.st_ino : 0;
}

}  // namespace

std::optional<double> GroupLimits::cores() const {
  if (!cpu_quota_seconds || cpu_period_seconds <= 0) return std::nullopt;
  return *cpu_quota_seconds / cpu_period_seconds;
}

GroupReader::GroupReader(const SysRoot& root, CgroupPaths paths)
    : root_(root), paths_(std::move(paths)) {
  open_missing();
}

void GroupReader::open_missing() {
  const auto open = [&](File file, const std::string& folder, const char* name) {
    if (folder.empty() || files_[file].valid()) return;
    if (auto fd = root_.open(folder + name)) files_[file] = std::move(*fd);
  };
  if (paths_.unified) {
    open(kCpuUsage, paths_.v2, "/cpu.stat");
    open(kMemoryUsage, paths_.v2, "/memory.current");
    open(kMemoryStat, paths_.v2, "/memory.stat");
    open(kMemoryPeak, paths_.v2, "/memory.peak");
    open(kMemoryEvents, paths_.v2, "/memory.events");
    open(kOomKills, paths_.v2, "/memory.swap.current");
    open(kDiskBytes, paths_.v2, "/io.stat");
    open(kThreads, paths_.v2, "/pids.current");
    return;
  }
  open(kCpuUsage, paths_.cpuacct, "/cpuacct.usage");
  open(kCpuParts, paths_.cpuacct, "/cpuacct.stat");
  open(kThrottling, paths_.cpu, "/cpu.stat");
  open(kMemoryUsage, paths_.memory, "/memory.usage_in_bytes");
  open(kMemoryStat, paths_.memory, "/memory.stat");
  open(kMemoryPeak, paths_.memory, "/memory.max_usage_in_bytes");
  open(kMemoryEvents, paths_.memory, "/memory.failcnt");
  open(kOomKills, paths_.memory, "/memory.oom_control");
  open(kDiskBytes, paths_.blkio, "/blkio.throttle.io_service_bytes_recursive");
  open(kDiskCounts, paths_.blkio, "/blkio.throttle.io_serviced_recursive");
  open(kThreads, paths_.pids, "/pids.current");
}

void GroupReader::close() {
  for (auto& file : files_) file.reset();
  network_.reset();
}

void GroupReader::watch_network_of(pid_t pid) {
  const ino_t own = network_of(root_, "self");
  const ino_t theirs = network_of(root_, fmt::to_string(pid));
  if (theirs == 0 || own == theirs) return;
  if (auto fd = root_.open(fmt::format("/proc/{}/net/dev", pid))) network_ = std::move(*fd);
}

std::string_view GroupReader::text_of(File file) {
  return read_once(files_[file].get());
}

bool GroupReader::read(GroupUse& use) {
  const bool there = paths_.unified ? read_v2(use) : read_v1(use);
  if (there) read_network(use);
  return there;
}

bool GroupReader::read_v1(GroupUse& use) {
  const std::string_view usage = text_of(kCpuUsage);
  if (usage.empty() && files_[kCpuUsage].valid()) return false;
  if (const auto ns = number(usage)) use[Use::cpu_seconds] = *ns / 1e9;
  take_cpuacct_stat(text_of(kCpuParts), use);
  take_cpu_stat_v1(text_of(kThrottling), use);
  set_if(number(text_of(kMemoryUsage)), use[Use::memory]);
  take_memory_stat_v1(text_of(kMemoryStat), use);
  take_blkio(text_of(kDiskBytes), BlkioUnit::bytes, use);
  take_blkio(text_of(kDiskCounts), BlkioUnit::operations, use);
  set_if(number(text_of(kThreads)), use[Use::threads]);
  return !usage.empty() || files_[kMemoryUsage].valid();
}

bool GroupReader::read_v2(GroupUse& use) {
  const std::string_view cpu = text_of(kCpuUsage);
  if (cpu.empty()) return false;
  take_cpu_stat_v2(cpu, use);
  set_if(number(text_of(kMemoryUsage)), use[Use::memory]);
  take_memory_stat_v2(text_of(kMemoryStat), use);
  take_io_stat(text_of(kDiskBytes), use);
  set_if(number(text_of(kThreads)), use[Use::threads]);
  return true;
}

void GroupReader::read_network(GroupUse& use) {
  if (network_.valid()) take_net_dev(read_once(network_.get()), use);
}

bool GroupReader::read_slow(GroupUse& use) {
  const auto peak = number(text_of(kMemoryPeak));
  set_if(peak, use[Use::memory_peak]);
  if (paths_.unified) {
    const std::string_view events = text_of(kMemoryEvents);
    set_if(keyed(events, "max"), use[Use::memory_failures]);
    set_if(keyed(events, "oom_kill"), use[Use::oom_kills]);
    set_if(number(text_of(kOomKills)), use[Use::memory_swap]);
    read_pressure(use);
  } else {
    set_if(number(text_of(kMemoryEvents)), use[Use::memory_failures]);
    set_if(keyed(text_of(kOomKills), "oom_kill"), use[Use::oom_kills]);
  }
  use[Use::processes] = count_processes();
  // Kernels before 5.19 have no peak in v2.
  const bool has_peak = paths_.unified ? files_[kMemoryPeak].valid() : !paths_.memory.empty();
  return peak || !has_peak;
}

void GroupReader::read_pressure(GroupUse& use) {
  struct Part {
    const char* file;
    Use waiting;
    Use stalled;
  };
  constexpr std::array kParts = {
      Part{"/cpu.pressure", Use::cpu_waiting_seconds, Use::cpu_stalled_seconds},
      Part{"/memory.pressure", Use::memory_waiting_seconds, Use::memory_stalled_seconds},
      Part{"/io.pressure", Use::io_waiting_seconds, Use::io_stalled_seconds}};
  for (const auto& part : kParts) {
    const auto fd = root_.open(paths_.v2 + part.file);
    if (!fd) continue;
    const Pressure pressure = parse_pressure(read_once(fd->get()));
    set_if(pressure.waiting_seconds, use[part.waiting]);
    set_if(pressure.stalled_seconds, use[part.stalled]);
  }
}

/// Opened anew: in v1 the kernel repeats an old list while a descriptor is read often.
double GroupReader::count_processes() const {
  const std::string& folder = paths_.unified        ? paths_.v2
                              : paths_.pids.empty() ? paths_.cpuacct
                                                    : paths_.pids;
  const auto fd = root_.open(folder + "/cgroup.procs");
  if (!fd) return kNotMeasured;
  double lines = 0;
  auto& buffer = scratch();
  for (ssize_t n = 0; (n = ::read(fd->get(), buffer.data(), buffer.size())) > 0;)
    lines += static_cast<double>(std::count(buffer.begin(), buffer.begin() + n, '\n'));
  return lines;
}

GroupLimits GroupReader::limits() const {
  GroupLimits limits;
  if (paths_.unified) {
    if (const auto max = root_.read(paths_.v2 + "/cpu.max")) {
      std::string_view rest = *max;
      if (const auto quota = number(next_word(rest))) limits.cpu_quota_seconds = *quota / 1e6;
      if (const auto period = number(next_word(rest))) limits.cpu_period_seconds = *period / 1e6;
    }
    limits.cpu_shares = shares_of_weight(limit_in(root_, paths_.v2, "/cpu.weight"));
    limits.memory = limit_in(root_, paths_.v2, "/memory.max");
    limits.swap = limit_in(root_, paths_.v2, "/memory.swap.max");
    limits.threads = limit_in(root_, paths_.v2, "/pids.max");
    return limits;
  }
  if (const auto quota = limit_in(root_, paths_.cpu, "/cpu.cfs_quota_us"))
    limits.cpu_quota_seconds = *quota / 1e6;
  if (const auto period = limit_in(root_, paths_.cpu, "/cpu.cfs_period_us"))
    limits.cpu_period_seconds = *period / 1e6;
  limits.cpu_shares = limit_in(root_, paths_.cpu, "/cpu.shares");
  limits.memory = limit_in(root_, paths_.memory, "/memory.limit_in_bytes");
  limits.swap = limit_in(root_, paths_.memory, "/memory.memsw.limit_in_bytes");
  limits.threads = limit_in(root_, paths_.pids, "/pids.max");
  return limits;
}

}  // namespace assay::probes
