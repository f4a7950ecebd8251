// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cgroup/cgroup_probes.h"
#include "proc/process_table.h"

#include <memory>

#include <assay/probes/probe.h>

namespace assay::probes {

/// At each beat: rss, threads and processes, and what the control groups do not cover. `gaps` are
/// passed on as not measured.
std::unique_ptr<Probe> make_tree_probe(std::shared_ptr<ProcessTable> table,
                                       const CgroupCover& cover, std::vector<NotMeasured> gaps);
/// Once a second: open files and context switches. Reads the processes that the tree probe has
/// found.
std::unique_ptr<Probe> make_tree_details_probe(const SysRoot& root,
                                               std::shared_ptr<ProcessTable> table);
/// Network bytes, where the app has a network of its own: that of its first process, or of the
/// `parent` that it will have.
std::unique_ptr<Probe> make_app_network_probe(const SysRoot& root,
                                              std::shared_ptr<ProcessTable> table, pid_t parent);

}  // namespace assay::probes
