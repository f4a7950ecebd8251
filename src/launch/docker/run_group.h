// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <assay/base/files.h>
#include <assay/base/result.h>
#include <assay/probes/probe.h>

namespace assay::launch {

/// Where control groups are mounted whole: "/sys/fs/cgroup/memory", "/sys/fs/cgroup".
struct CgroupMount {
  std::string folder;
  std::string controllers;  ///< of v1, joined by commas; empty in v2
  bool unified = false;
};
std::vector<CgroupMount> cgroup_mounts(const SysRoot& root);

/// The groups that an engine made for a container, by the names that Docker and Podman give them
/// with either driver; those that are gone are empty.
probes::CgroupPaths container_groups(const SysRoot& root, const std::string& id);

/// A group above a container's own, in every hierarchy. The engine removes a container's group some
/// milliseconds after its end, however short its life was; this one keeps its CPU time and its peak
/// of memory until it is destroyed.
class RunGroup {
 public:
  /// Only root can.
  static Result<RunGroup> make(const SysRoot& root, const std::string& name);
  RunGroup(RunGroup&&) = default;
  RunGroup& operator=(RunGroup&&) = delete;
  RunGroup(const RunGroup&) = delete;
  RunGroup& operator=(const RunGroup&) = delete;
  ~RunGroup();

  /// For HostConfig.CgroupParent.
  std::string parent() const { return "/" + name_; }
  /// Of the group `child` below it, and where that is gone or empty, its own.
  probes::CgroupPaths paths(const std::string& child) const;

 private:
  RunGroup(const SysRoot& root, std::string name) : root_(root), name_(std::move(name)) {}

  SysRoot root_;
  std::string name_;
  std::vector<CgroupMount> mounts_;  ///< in which it was made
};

}  // namespace assay::launch
