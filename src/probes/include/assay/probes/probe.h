// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

#include <assay/base/files.h>
#include <assay/base/time.h>
#include <assay/samples/records.h>
#include <assay/samples/series.h>

namespace assay::probes {

/// How often a probe is worth reading.
enum class Pace : uint8_t {
  beat,  ///< at every beat of the sampler
  slow,  ///< about once a second: what is dear to read or slow to change
};

/// Reads one part of the machine. Made by the factories below, used from one thread. Opens its
/// files once and keeps them; `sample` allocates nothing once the app's set of processes is stable.
class Probe {
 public:
  virtual ~Probe() = default;
  virtual std::string_view name() const = 0;
  virtual Pace pace() const = 0;
  /// Declares the series that can be read here. Fails when nothing of this probe can be measured;
  /// the message is the reason a user sees.
  virtual Result<void> open(SampleSink& sink) = 0;
  /// Reads and pushes, each group of values stamped with the time just before its read. A failure
  /// means that nothing more will come from this probe.
  virtual Result<void> sample(const Clock& clock, SampleSink& sink) = 0;
  /// Parts that cannot be measured though the probe as a whole can. Valid after open.
  virtual std::vector<NotMeasured> not_measured() const { return {}; }
};

using Probes = std::vector<std::unique_ptr<Probe>>;

/// Where the app's control groups are, as absolute folders on the machine
/// ("/sys/fs/cgroup/assay/x"). Folders of controllers that the app has no group of its own in are
/// empty.
struct CgroupPaths {
  bool unified = false;  ///< v2: only `v2` is set
  std::string v2;
  std::string cpu;  ///< v1 from here on
  std::string cpuacct;
  std::string memory;
  std::string blkio;
  std::string pids;

  bool empty() const;
};

/// What to measure: an app's control group where it has one, and its processes.
struct AppTarget {
  CgroupPaths cgroup;
  /// All descendants of this process belong to the app ...
  pid_t root = 0;
  /// ... and so does the process itself, unless it is our own keeper.
  bool include_root = true;
};

/// Finds the control groups that a process is in, v1 and v2, below the root group. Groups are only
/// named when they are the process's own, not the machine's root group.
CgroupPaths cgroups_of(const SysRoot& root, pid_t pid);

/// Everything in `system` for the app: CPU, memory, faults, threads, files, disk, network,
/// switches, pressure; from the control group where one exists, else from /proc/PID of the tree.
Probes app_probes(const SysRoot& root, const AppTarget& target);
/// The same for the whole node, with load, frequency and temperatures.
Probes node_probes(const SysRoot& root);
/// Who else was busy: adds up the CPU time of all processes but `ours` (the app, what was started
/// for it, Assay itself; each with its descendants and its control group) and keeps the `most`
/// busiest in `busiest`, which must outlive the probe. Pushes no samples. Reads each second
/// at first and every five in a long run; means are over the time between the first reading and the
/// last.
std::unique_ptr<Probe> others_probe(const SysRoot& root, std::vector<AppTarget> ours,
                                    std::vector<OtherProcess>& busiest, size_t most = 5);
/// `power`: RAPL, hwmon, INA3221, batteries.
Probes power_probes(const SysRoot& root);

Device read_device(const SysRoot& root);
BoardState read_board_state(const SysRoot& root);
/// Why two runs should not be compared ("governor was powersave, is performance"); empty: they can.
std::vector<std::string> state_differences(const BoardState& before, const BoardState& after);

/// All live descendants of a process, itself excluded, in no order. For launching and cleaning up.
std::vector<pid_t> descendants(const SysRoot& root, pid_t pid);

}  // namespace assay::probes
