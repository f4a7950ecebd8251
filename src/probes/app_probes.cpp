// SPDX-License-Identifier: Apache-2.0
#include "cgroup/cgroup_probes.h"
#include "proc/tree_probe.h"

#include <memory>

#include <assay/probes/probe.h>

namespace assay::probes {

Probes app_probes(const SysRoot& root, const AppTarget& target) {
  const CgroupCover cover = cgroup_cover(root, target.cgroup);
  const ProcessReads reads{.usage = !cover.cpu || !cover.memory, .io = !cover.disk_bytes};
  const auto table = std::make_shared<ProcessTable>(root, target, reads);
  Probes probes = cgroup_probes(root, target.cgroup);
  probes.push_back(make_tree_probe(table, cover, cgroup_gaps(target.cgroup, cover)));
  probes.push_back(make_tree_details_probe(root, table));
  probes.push_back(make_app_network_probe(root, table, target.root));
  return probes;
}

}  // namespace assay::probes
