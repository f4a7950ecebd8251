// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>

#include <assay/base/files.h>
#include <assay/promapi/family_writer.h>

namespace assay::agent {

/// One file of /proc and the families that it tells. Takes any text and writes what it understands
/// of it; allocates nothing as long as the machine has the same devices.
class NodeTable {
 public:
  virtual ~NodeTable() = default;
  virtual void write(std::string_view text, promapi::FamilyWriter& out) = 0;
};

/// /proc/stat: CPU time, interrupts, switches, forks.
std::unique_ptr<NodeTable> stat_table();
/// /proc/loadavg.
std::unique_ptr<NodeTable> load_table();
/// /proc/meminfo: a family for each line.
std::unique_ptr<NodeTable> memory_table();
/// /proc/vmstat: the lines about faults, paging, swapping and what the kernel ended.
std::unique_ptr<NodeTable> vmstat_table();
/// /proc/pressure/`resource`: cpu, io, memory or irq.
std::unique_ptr<NodeTable> pressure_table(std::string_view resource);
/// /proc/sys/fs/file-nr.
std::unique_ptr<NodeTable> files_table();
/// /proc/diskstats, without partitions and disks in memory.
std::unique_ptr<NodeTable> disk_table();
/// /proc/net/dev, and beside it what /sys/class/net tells of each interface.
std::unique_ptr<NodeTable> network_table(const SysRoot& root);

}  // namespace assay::agent
