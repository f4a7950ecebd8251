// SPDX-License-Identifier: Apache-2.0
#include "cgroup/cgroup_probes.h"

#include "clock_ticks.h"
#include "file_probe.h"
#include "text/cgroup.h"
#include "text/node.h"
#include "text/pressure.h"

#include <algorithm>
#include <filesystem>

namespace assay::probes {
namespace {

using enum MetricId;

std::optional<double> first_number(std::string_view text) {
  const auto number = parse_first_int(text);
  if (!number || *number < 0) return std::nullopt;
  return static_cast<double>(*number);
}

/// Memory in use without the part of the file cache that the kernel would give up first.
std::optional<double> working_set(std::string_view usage_text, const CgroupMemory& stat) {
  const auto usage = first_number(usage_text);
  if (!usage || !stat.inactive_file) return std::nullopt;
  return std::max(0.0, *usage - static_cast<double>(*stat.inactive_file));
}

void read_single(Texts texts, Values values) {
  values[0] = first_number(texts[0]);
}

void read_cpu_v2(Texts texts, Values values) {
  const CgroupCpu cpu = parse_cpu_stat_v2(texts[0]);
  values[0] = cpu.usage_seconds;
  values[1] = cpu.user_seconds;
  values[2] = cpu.system_seconds;
  values[3] = cpu.throttled_seconds;
}

void read_memory_v2(Texts texts, Values values) {
  const CgroupMemory stat = parse_memory_stat_v2(texts[1]);
  values[0] = working_set(texts[0], stat);
  values[1] = as_double(stat.cache);
  values[2] = as_double(stat.faults);
  values[3] = as_double(stat.major_faults);
}

void read_io_v2(Texts texts, Values values) {
  const CgroupIo io = parse_io_stat(texts[0]);
  values[0] = static_cast<double>(io.read_bytes);
  values[1] = static_cast<double>(io.write_bytes);
  values[2] = static_cast<double>(io.reads);
  values[3] = static_cast<double>(io.writes);
}

void read_usage_v1(Texts texts, Values values) {
  values[0] = parse_cpuacct_usage(texts[0]);
}

void read_cpuacct_stat(Texts texts, Values values) {
  const auto stat = parse_cpuacct_stat(texts[0]);
  if (!stat) return;
  values[0] = ticks_to_seconds(stat->user_ticks);
  values[1] = ticks_to_seconds(stat->system_ticks);
}

void read_throttling_v1(Texts texts, Values values) {
  values[0] = parse_cpu_stat_v1(texts[0]).throttled_seconds;
}

void read_memory_v1(Texts texts, Values values) {
  const CgroupMemory stat = parse_memory_stat_v1(texts[1]);
  values[0] = working_set(texts[0], stat);
  values[1] = as_double(stat.cache);
  values[2] = as_double(stat.swap);
  values[3] = as_double(stat.faults);
  values[4] = as_double(stat.major_faults);
}

void read_operations_v1(Texts texts, Values values) {
  const BlkioCount count = parse_blkio(texts[0]);
  values[0] = static_cast<double>(count.read);
  values[1] = static_cast<double>(count.write);
}

void read_pressure(Texts texts, Values values) {
  const Pressure cpu = parse_pressure(texts[0]);
  const Pressure memory = parse_pressure(texts[1]);
  const Pressure io = parse_pressure(texts[2]);
  values[0] = cpu.waiting_seconds;
  values[1] = memory.waiting_seconds;
  values[2] = memory.stalled_seconds;
  values[3] = io.waiting_seconds;
  values[4] = io.stalled_seconds;
}

constexpr std::string_view kOperationsV1 = "/blkio.throttle.io_serviced_recursive";

/// Newer kernels count blkio only for groups under a blkio limit and show zeros otherwise. The
/// topmost group, which holds all I/O of the machine, tells whether this one counts.
bool counts_operations_v1(const SysRoot& root, const std::string& folder) {
  std::filesystem::path top = folder;
  while (root.exists((top.parent_path() / kOperationsV1.substr(1)).native()))
    top = top.parent_path();
  const auto text = root.read(top.native() + std::string(kOperationsV1));
  return text && parse_blkio(*text).devices > 0;
}

std::vector<FilePart> cpu_parts(const SysRoot& root, const CgroupPaths& paths) {
  if (paths.unified) {
    const std::string from = "cgroup v2 cpu.stat";
    return {{{paths.v2 + "/cpu.stat"},
             {{cpu_usage_seconds_total, from + " usage_usec"},
              {cpu_user_seconds_total, from + " user_usec"},
              {cpu_system_seconds_total, from + " system_usec"},
              {cpu_throttled_seconds_total, from + " throttled_usec"}},
             read_cpu_v2}};
  }
  std::vector<FilePart> parts;
  if (root.exists(paths.cpuacct + "/cpuacct.usage")) {
    parts.push_back({{paths.cpuacct + "/cpuacct.usage"},
                     {{cpu_usage_seconds_total, "cgroup v1 cpuacct.usage"}},
                     read_usage_v1});
    parts.push_back({{paths.cpuacct + "/cpuacct.stat"},
                     {{cpu_user_seconds_total, "cgroup v1 cpuacct.stat user"},
                      {cpu_system_seconds_total, "cgroup v1 cpuacct.stat system"}},
                     read_cpuacct_stat});
  }
  if (!paths.cpu.empty()) {
    parts.push_back({{paths.cpu + "/cpu.stat"},
                     {{cpu_throttled_seconds_total, "cgroup v1 cpu.stat throttled_time"}},
                     read_throttling_v1});
  }
  return parts;
}

std::vector<FilePart> memory_parts(const CgroupPaths& paths) {
  if (paths.unified) {
    const std::string from = "cgroup v2 memory.stat";
    return {
        {{paths.v2 + "/memory.current", paths.v2 + "/memory.stat"},
         {{memory_bytes, "cgroup v2 memory.current less memory.stat inactive_file"},
          {memory_cache_bytes, from + " file"},
          {page_faults_total, from + " pgfault"},
          {major_page_faults_total, from + " pgmajfault"}},
         read_memory_v2},
        {{paths.v2 + "/memory.peak"}, {{memory_peak_bytes, "cgroup v2 memory.peak"}}, read_single},
        {{paths.v2 + "/memory.swap.current"},
         {{memory_swap_bytes, "cgroup v2 memory.swap.current"}},
         read_single}};
  }
  const std::string from = "cgroup v1 memory.stat";
  return {{{paths.memory + "/memory.usage_in_bytes", paths.memory + "/memory.stat"},
           {{memory_bytes, "cgroup v1 memory.usage_in_bytes less memory.stat total_inactive_file"},
            {memory_cache_bytes, from + " total_cache"},
            {memory_swap_bytes, from + " total_swap"},
            {page_faults_total, from + " total_pgfault"},
            {major_page_faults_total, from + " total_pgmajfault"}},
           read_memory_v1},
          {{paths.memory + "/memory.max_usage_in_bytes"},
           {{memory_peak_bytes, "cgroup v1 memory.max_usage_in_bytes"}},
           read_single}};
}

std::vector<FilePart> disk_parts(const CgroupPaths& paths) {
  if (paths.unified) {
    const std::string from = "cgroup v2 io.stat";
    return {{{paths.v2 + "/io.stat"},
             {{disk_read_bytes_total, from + " rbytes"},
              {disk_write_bytes_total, from + " wbytes"},
              {disk_reads_total, from + " rios"},
              {disk_writes_total, from + " wios"}},
             read_io_v2}};
  }
  const std::string from = "cgroup v1 " + std::string(kOperationsV1.substr(1));
  return {{{paths.blkio + std::string(kOperationsV1)},
           {{disk_reads_total, from + " Read"}, {disk_writes_total, from + " Write"}},
           read_operations_v1}};
}

std::vector<FilePart> pressure_parts(const std::string& v2) {
  return {{{v2 + "/cpu.pressure", v2 + "/memory.pressure", v2 + "/io.pressure"},
           {{pressure_cpu_waiting_seconds_total, "cgroup v2 cpu.pressure some"},
            {pressure_memory_waiting_seconds_total, "cgroup v2 memory.pressure some"},
            {pressure_memory_stalled_seconds_total, "cgroup v2 memory.pressure full"},
            {pressure_io_waiting_seconds_total, "cgroup v2 io.pressure some"},
            {pressure_io_stalled_seconds_total, "cgroup v2 io.pressure full"}},
           read_pressure}};
}

}  // namespace

CgroupCover cgroup_cover(const SysRoot& root, const CgroupPaths& paths) {
  CgroupCover cover;
  if (paths.unified && !paths.v2.empty()) {
    cover.cpu = root.exists(paths.v2 + "/cpu.stat");
    cover.memory = root.exists(paths.v2 + "/memory.current");
    cover.disk_bytes = cover.disk_operations = root.exists(paths.v2 + "/io.stat");
  } else if (!paths.unified) {
    cover.cpu = !paths.cpuacct.empty() && root.exists(paths.cpuacct + "/cpuacct.usage");
    cover.memory = !paths.memory.empty() && root.exists(paths.memory + "/memory.usage_in_bytes");
    // v1 does not charge write-back to the group that wrote, so bytes come from /proc/PID/io there.
    cover.disk_operations = !paths.blkio.empty() && counts_operations_v1(root, paths.blkio);
  }
  return cover;
}

Probes cgroup_probes(const SysRoot& root, const CgroupPaths& paths) {
  const CgroupCover cover = cgroup_cover(root, paths);
  Probes probes;
  const auto add = [&](const char* name, std::vector<FilePart> parts) {
    probes.push_back(
        std::make_unique<FileProbe>(root, name, Pace::beat, Scope::app, std::move(parts)));
  };
  if (cover.cpu || !paths.cpu.empty()) add("app cpu", cpu_parts(root, paths));
  if (cover.memory) add("app memory", memory_parts(paths));
  if (cover.disk_operations) add("app disk", disk_parts(paths));
  if (paths.unified && !paths.v2.empty()) add("app pressure", pressure_parts(paths.v2));
  return probes;
}

std::vector<NotMeasured> cgroup_gaps(const CgroupPaths& paths, const CgroupCover& cover) {
  const bool none = paths.empty();
  const std::string no_group = "only a control group tells this, and the app has none of its own";
  std::vector<NotMeasured> gaps;
  if (none || (!paths.unified && paths.cpu.empty())) {
    gaps.push_back({"app cpu_throttled_seconds_total", no_group});
  }
  if (!cover.memory) gaps.push_back({"app memory_cache_bytes", no_group});
  if (!cover.disk_operations) {
    gaps.push_back({"app disk operations",
                    paths.blkio.empty()
                        ? no_group
                        : "this kernel counts them only in groups under a blkio limit"});
  }
  if (!paths.unified || paths.v2.empty()) {
    gaps.push_back(
        {"app pressure", none ? no_group
                              : "the kernel tells pressure per app only in cgroup v2; boot with "
                                "systemd.unified_cgroup_hierarchy=1 to have it"});
  }
  return gaps;
}

}  // namespace assay::probes
