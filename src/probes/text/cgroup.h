// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

/// The files of a control group, v1 and v2. Pure functions; a field that the text does not have is
/// absent.
namespace assay::probes {

/// cpu.stat of v2 (microseconds in the file) or of v1 (only throttling, nanoseconds in the file).
struct CgroupCpu {
  std::optional<double> usage_seconds;
  std::optional<double> user_seconds;
  std::optional<double> system_seconds;
  std::optional<double> throttled_seconds;
};
CgroupCpu parse_cpu_stat_v2(std::string_view text);
CgroupCpu parse_cpu_stat_v1(std::string_view text);
/// cpuacct.usage: nanoseconds.
std::optional<double> parse_cpuacct_usage(std::string_view text);
/// cpuacct.stat, in clock ticks.
struct CpuacctStat {
  uint64_t user_ticks = 0;
  uint64_t system_ticks = 0;
};
std::optional<CpuacctStat> parse_cpuacct_stat(std::string_view text);

/// memory.stat, groups below included.
struct CgroupMemory {
  std::optional<uint64_t> inactive_file;
  std::optional<uint64_t> cache;
  std::optional<uint64_t> swap;  ///< v1 only
  std::optional<uint64_t> faults;
  std::optional<uint64_t> major_faults;
};
CgroupMemory parse_memory_stat_v2(std::string_view text);
CgroupMemory parse_memory_stat_v1(std::string_view text);

/// Sums over all block devices but loop and ram.
struct CgroupIo {
  uint64_t read_bytes = 0;
  uint64_t write_bytes = 0;
  uint64_t reads = 0;
  uint64_t writes = 0;
};
/// io.stat of v2. A group without any I/O has an empty file: all zero.
CgroupIo parse_io_stat(std::string_view text);

/// blkio.throttle.io_service_bytes, io_serviced and their _recursive forms.
struct BlkioCount {
  uint64_t devices = 0;  ///< none: nothing was counted, which need not mean that nothing was done
  uint64_t read = 0;
  uint64_t write = 0;
};
BlkioCount parse_blkio(std::string_view text);

}  // namespace assay::probes
