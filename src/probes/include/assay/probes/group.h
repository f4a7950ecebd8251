// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

#include <assay/base/files.h>
#include <assay/base/time.h>
#include <assay/probes/probe.h>

/// The whole of a control group at one moment, for those who watch many of them at a small price.
/// A profiled app has its own probes, which know more and cost more.
namespace assay::probes {

/// The hierarchies of this machine's control groups, as far as they can be seen from here.
class GroupTree {
 public:
  struct Mount {
    bool unified = false;
    std::string root;         ///< the group that is mounted, "/" mostly
    std::string mount_point;  ///< "/sys/fs/cgroup/memory"
    std::string options;      ///< v1: has the names of the controllers
  };
  explicit GroupTree(const SysRoot& root);

  bool unified() const { return unified_; }
  /// The hierarchy to watch: v2's, else that of v1's cpuacct; empty when there is none.
  const std::string& folder() const { return folder_; }
  /// The group "/docker/x" in each hierarchy. In v1 it is made, and goes, in one after the other.
  CgroupPaths at(const std::string& path) const;
  /// The group that a process is in, "/" for the topmost; empty when it is gone.
  std::string path_of(pid_t pid) const;

 private:
  SysRoot root_;
  std::vector<Mount> mounts_;
  bool unified_ = false;
  std::string folder_;
  std::string own_;  ///< our own group, where paths of others begin there; else empty
};

/// What a group counts or holds. Times are in seconds, sizes in bytes.
enum class Use : uint8_t {
  cpu_seconds,
  cpu_user_seconds,
  cpu_system_seconds,
  cpu_periods,
  cpu_throttled_periods,
  cpu_throttled_seconds,
  memory,
  memory_working_set,  ///< without the file cache that the kernel would give up first
  memory_rss,
  memory_cache,
  memory_mapped,
  memory_swap,
  memory_peak,
  memory_failures,  ///< how often the limit was reached
  page_faults,
  major_page_faults,
  oom_kills,
  processes,
  threads,
  cpu_waiting_seconds,  ///< pressure: at least one waited ...
  cpu_stalled_seconds,  ///< ... all did
  memory_waiting_seconds,
  memory_stalled_seconds,
  io_waiting_seconds,
  io_stalled_seconds,
};
constexpr size_t kUses = static_cast<size_t>(Use::io_stalled_seconds) + 1;
/// Stands for what is not measured, never for zero.
constexpr double kNotMeasured = std::numeric_limits<double>::quiet_NaN();

struct DiskUse {
  uint32_t major = 0;
  uint32_t minor = 0;
  double read_bytes = 0;
  double write_bytes = 0;
  double reads = 0;
  double writes = 0;
};

struct InterfaceUse {
  std::array<char, 16> name{};  ///< ends with a zero
  struct Direction {
    double bytes = 0;
    double packets = 0;
    double errors = 0;
    double drops = 0;
  };
  Direction received;
  Direction sent;
};

struct GroupUse {
  std::array<double, kUses> values;
  std::vector<DiskUse> disks;
  std::vector<InterfaceUse> interfaces;

  GroupUse() { values.fill(kNotMeasured); }
  double& operator[](Use use) { return values[static_cast<size_t>(use)]; }
  double operator[](Use use) const { return values[static_cast<size_t>(use)]; }
};

/// What the group may use; nothing where it is not limited.
struct GroupLimits {
  std::optional<double> cpu_quota_seconds;  ///< in each period
  double cpu_period_seconds = 0.1;
  std::optional<double> cpu_shares;  ///< as v1 counts them: 1024 is the usual share
  std::optional<double> memory;
  std::optional<double> swap;
  std::optional<double> threads;

  /// Cores that the quota is worth.
  std::optional<double> cores() const;
};

/// Reads one group again and again through descriptors that stay open. Allocates nothing once all
/// disks and interfaces have been seen.
class GroupReader {
 public:
  /// What cannot be opened is not measured. The reader is useless when nothing can be opened.
  GroupReader(const SysRoot& root, CgroupPaths paths);
  /// Tries once more what could not be opened: in v1 the group may just have been made there.
  void open_missing();

  /// Counts what goes over the network that this process lives in, unless it is the machine's own.
  void watch_network_of(pid_t pid);
  bool has_network() const { return network_.valid(); }

  /// What changes quickly. False when the group is gone; what was read before stays.
  bool read(GroupUse& use);
  /// What is dearer or changes slowly: peak, failures, kills, processes, pressure. False when the
  /// peak of memory can no longer be read, because that part of the group is gone.
  bool read_slow(GroupUse& use);
  GroupLimits limits() const;
  /// Gives its descriptors back; nothing can be read any more.
  void close();
  const CgroupPaths& paths() const { return paths_; }

 private:
  enum File : uint8_t;
  std::string_view text_of(File file);
  bool read_v1(GroupUse& use);
  bool read_v2(GroupUse& use);
  void read_network(GroupUse& use);
  void read_pressure(GroupUse& use);
  double count_processes() const;

  SysRoot root_;
  CgroupPaths paths_;
  std::array<Fd, 12> files_;
  Fd network_;
};

}  // namespace assay::probes
