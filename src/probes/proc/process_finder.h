// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kept_file.h"
#include "proc/process_files.h"

#include <memory>
#include <optional>
#include <vector>

#include <assay/probes/probe.h>

namespace assay::probes {

/// Tells at each beat which processes may have joined the app, cheaply: from the control group's
/// list, else from the children of known processes, and only when the kernel has made any process
/// or thread since the last look.
class ProcessFinder {
 public:
  ProcessFinder(const SysRoot& root, const AppTarget& target);

  /// Appends ids to `found`, among them known ones. `known` are those tracked so far, sorted.
  void find(const std::vector<pid_t>& known, std::vector<pid_t>& found);

 private:
  bool find_in_group(std::vector<pid_t>& found);
  bool anything_new();
  void add_children(pid_t pid, std::vector<pid_t>& found) const;
  void add_children_of_thread(pid_t pid, pid_t thread, std::vector<pid_t>& found) const;

  SysRoot root_;
  ProcessFiles files_;
  pid_t top_;
  std::optional<KeptFile> group_list_;
  std::optional<KeptFile> loadavg_;
  std::optional<uint64_t> last_pid_;
  bool has_children_files_;  ///< not every kernel is built with them
};

}  // namespace assay::probes
