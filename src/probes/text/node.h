// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

/// The files of /proc that tell about the whole machine. Pure functions; a field that the text does
/// not have is absent.
namespace assay::probes {

/// /proc/stat, in clock ticks. Time taken by the hypervisor (steal) and waiting for disks is not
/// use.
struct NodeStat {
  uint64_t user_ticks = 0;    ///< with nice; guests are part of it already
  uint64_t system_ticks = 0;  ///< with interrupts
  std::optional<uint64_t> context_switches;
};
std::optional<NodeStat> parse_node_stat(std::string_view text);

/// /proc/meminfo, in bytes.
struct Meminfo {
  std::optional<uint64_t> total;
  std::optional<uint64_t> used;  ///< total without what could be had at once (MemAvailable)
  std::optional<uint64_t> cache;
  std::optional<uint64_t> resident;  ///< anonymous and mapped
  std::optional<uint64_t> swap_used;
};
Meminfo parse_meminfo(std::string_view text);

/// /proc/vmstat.
struct Vmstat {
  std::optional<uint64_t> faults;
  std::optional<uint64_t> major_faults;
};
Vmstat parse_vmstat(std::string_view text);

/// Sums of /proc/diskstats over whole disks: no partitions, no disks in memory (loop, ram, zram),
/// no disks made of disks (dm, md).
struct Diskstats {
  uint64_t disks = 0;
  uint64_t read_bytes = 0;
  uint64_t write_bytes = 0;
  uint64_t reads = 0;
  uint64_t writes = 0;
};
Diskstats parse_diskstats(std::string_view text);

/// Sums of /proc/net/dev without loopback.
struct NetDev {
  uint64_t interfaces = 0;
  uint64_t receive_bytes = 0;
  uint64_t transmit_bytes = 0;
};
enum class Interfaces : uint8_t {
  all,
  outward,  ///< without bridges, tunnels and the like, whose traffic a real interface counts as
            ///< well
};
NetDev parse_net_dev(std::string_view text, Interfaces which);

/// /proc/loadavg.
struct Loadavg {
  double load1 = 0;
  uint64_t threads = 0;
  uint64_t last_pid = 0;  ///< unchanged: no process or thread was made since
};
std::optional<Loadavg> parse_loadavg(std::string_view text);

/// The first number of a file such as /proc/sys/fs/file-nr or a sensor's; may be negative.
std::optional<int64_t> parse_first_int(std::string_view text);

}  // namespace assay::probes
