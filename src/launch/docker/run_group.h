// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cgroup_mounts.h"

#include <string>
#include <sys/types.h>
#include <vector>

#include <assay/base/files.h>
#include <assay/base/result.h>
#include <assay/probes/probe.h>

namespace assay::launch {

/// The groups of a container, from where its first process is: that very group, or the one above it
/// that is named after the container, should there be others inside of it. Empty when the process
/// is gone or its groups cannot be seen from here.
probes::CgroupPaths container_groups(const SysRoot& root, pid_t pid, const std::string& id);

/// A group above a container's own, in every hierarchy. The engine removes a container's group some
/// milliseconds after its end, however short its life was; this one keeps its CPU time until it is
/// destroyed, and in v2 its peak of memory and its OOM kills as well.
class RunGroup {
 public:
  /// Only root can. What was made is removed again when it fails.
  static Result<RunGroup> make(const SysRoot& root, const std::string& name);
  RunGroup(RunGroup&&) = default;
  RunGroup& operator=(RunGroup&&) = delete;
  RunGroup(const RunGroup&) = delete;
  RunGroup& operator=(const RunGroup&) = delete;
  ~RunGroup();

  /// For HostConfig.CgroupParent.
  std::string parent() const { return "/" + name_; }
  /// An engine in another place of the hierarchy may take our name for a group of its own.
  bool is_above(const probes::CgroupPaths& container) const;
  /// What to sample: the container's groups, ours where it has none (any more). Throttling and, in
  /// v1, memory and disk are only counted in the container's own, so they lack its last moment; so
  /// does all in v2.
  probes::CgroupPaths sampled(const probes::CgroupPaths& container) const;
  /// Where CPU time and OOM kills are counted to the end, as far as the kernel does.
  probes::CgroupPaths totals(const probes::CgroupPaths& container) const;

 private:
  RunGroup(const SysRoot& root, std::string name) : root_(root), name_(std::move(name)) {}
  std::string folder(const CgroupMount& mount) const { return mount.point + "/" + name_; }
  probes::CgroupPaths own() const;

  SysRoot root_;
  std::string name_;
  std::vector<CgroupMount> mounts_;  ///< in which it was made
};

}  // namespace assay::launch
