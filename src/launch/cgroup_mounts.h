// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <assay/base/files.h>

namespace assay::launch {

/// Where control groups are mounted: "/sys/fs/cgroup/memory", "/sys/fs/cgroup".
struct CgroupMount {
  bool unified = false;
  std::string root;  ///< the part of the hierarchy that is mounted: "/", or a container's own group
  std::string point;
  std::vector<std::string> options;  ///< of v1, its controllers among them

  bool is_whole() const { return root == "/"; }
  bool has(std::string_view option) const;
};

std::vector<CgroupMount> cgroup_mounts(const SysRoot& root);

/// The parts that are not empty.
std::vector<std::string> split(std::string_view text, char separator);

}  // namespace assay::launch
