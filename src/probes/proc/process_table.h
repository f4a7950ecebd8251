// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "proc/process_files.h"
#include "proc/process_finder.h"
#include "text/process.h"

#include <ctime>
#include <optional>
#include <vector>

#include <assay/probes/probe.h>

namespace assay::probes {

/// What is read of each process at each beat.
struct ProcessReads {
  bool usage = true;  ///< CPU time and faults (/proc/PID/stat)
  bool io = true;     ///< disk bytes (/proc/PID/io)
};

/// One process of the app, as of the last refresh. The parts of children that were waited for are
/// in `children` and, by the kernel's choice, in `io`.
struct Process {
  struct Usage {
    double cpu_seconds = 0;
    double user_seconds = 0;
    double system_seconds = 0;
    double faults = 0;
    double major_faults = 0;
  };

  pid_t pid = 0;
  bool keeper = false;  ///< not of the app; only what it has of the app's dead processes counts
  bool gone = false;
  ProcessStatus status;
  Usage own;
  Usage children;
  std::optional<ProcessIo> io;
  ProcessIo io_before;  ///< of a keeper: its own, from before the app
  Fd status_file;
  Fd stat_file;
  Fd io_file;
  std::optional<clockid_t> clock;

  bool alive() const { return !keeper && (status.state != 'Z' || status.threads > 1); }
};

/// The app's processes: finds those that joined, reads them, drops those that are gone. Processes
/// once found stay, even when their parent dies and somebody outside the app becomes their parent.
/// Files of the first hundred stay open; refresh allocates nothing while no process joins.
class ProcessTable {
 public:
  ProcessTable(const SysRoot& root, const AppTarget& target, ProcessReads reads);

  void refresh();
  /// Parents come before their children, so that a process that ends while we read is counted once
  /// at most.
  const std::vector<Process>& processes() const { return processes_; }
  const ProcessFiles& files() const { return files_; }

 private:
  void join(pid_t pid);
  void read(Process& process);
  bool read_status(Process& process);
  bool read_usage(Process& process);
  void read_io(Process& process);
  void drop_gone();
  bool knows(pid_t pid) const;

  SysRoot root_;
  ProcessFiles files_;
  ProcessFinder finder_;
  ProcessReads reads_;
  pid_t keeper_;
  std::vector<Process> processes_;
  std::vector<pid_t> known_;  ///< sorted
  std::vector<pid_t> found_;
  std::vector<char> buffer_;
};

}  // namespace assay::probes
