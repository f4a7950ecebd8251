// SPDX-License-Identifier: Apache-2.0
#include "text/cgroup.h"

#include "text/fields.h"

#include <assay/base/text.h>

namespace assay::probes {
namespace {

std::optional<double> scaled(std::optional<uint64_t> number, double scale) {
  if (!number) return std::nullopt;
  return static_cast<double>(*number) * scale;
}

/// Whether "7:0" or "8:16" is a disk in memory (major 1: ram, 7: loop).
bool is_memory_disk(std::string_view device) {
  const std::string_view major = device.substr(0, device.find(':'));
  return major == "1" || major == "7";
}

void add_io_word(std::string_view word, CgroupIo& io) {
  const std::string_view key = next_field(word, '=');
  const uint64_t value = parse_uint(word).value_or(0);
  if (key == "rbytes") io.read_bytes += value;
  if (key == "wbytes") io.write_bytes += value;
  if (key == "rios") io.reads += value;
  if (key == "wios") io.writes += value;
}

}  // namespace

CgroupCpu parse_cpu_stat_v2(std::string_view text) {
  return {scaled(keyed_uint(text, "usage_usec"), 1e-6), scaled(keyed_uint(text, "user_usec"), 1e-6),
          scaled(keyed_uint(text, "system_usec"), 1e-6),
          scaled(keyed_uint(text, "throttled_usec"), 1e-6)};
}

CgroupCpu parse_cpu_stat_v1(std::string_view text) {
  CgroupCpu cpu;
  cpu.throttled_seconds = scaled(keyed_uint(text, "throttled_time"), 1e-9);
  return cpu;
}

std::optional<double> parse_cpuacct_usage(std::string_view text) {
  return scaled(parse_uint(trim(text)), 1e-9);
}

std::optional<CpuacctStat> parse_cpuacct_stat(std::string_view text) {
  const auto user = keyed_uint(text, "user");
  const auto system = keyed_uint(text, "system");
  if (!user || !system) return std::nullopt;
  return CpuacctStat{*user, *system};
}

CgroupMemory parse_memory_stat_v2(std::string_view text) {
  CgroupMemory memory;
  memory.inactive_file = keyed_uint(text, "inactive_file");
  memory.cache = keyed_uint(text, "file");
  memory.faults = keyed_uint(text, "pgfault");
  memory.major_faults = keyed_uint(text, "pgmajfault");
  return memory;
}

CgroupMemory parse_memory_stat_v1(std::string_view text) {
  CgroupMemory memory;
  memory.inactive_file = keyed_uint(text, "total_inactive_file");
  memory.cache = keyed_uint(text, "total_cache");
  memory.swap = keyed_uint(text, "total_swap");
  memory.faults = keyed_uint(text, "total_pgfault");
  memory.major_faults = keyed_uint(text, "total_pgmajfault");
  return memory;
}

CgroupIo parse_io_stat(std::string_view text) {
  CgroupIo io;
  for (std::string_view line; next_line(text, line);) {
    if (is_memory_disk(next_word(line))) continue;
    while (!line.empty()) add_io_word(next_word(line), io);
  }
  return io;
}

BlkioCount parse_blkio(std::string_view text) {
  BlkioCount count;
  for (std::string_view line; next_line(text, line);) {
    const std::string_view device = next_word(line);
    if (device.find(':') == device.npos || is_memory_disk(device)) continue;
    const std::string_view kind = next_word(line);
    const auto value = next_uint(line);
    if (!value) continue;
    if (kind == "Read") {
      ++count.devices;
      count.read += *value;
    } else if (kind == "Write") {
      count.write += *value;
    }
  }
  return count;
}

}  // namespace assay::probes
