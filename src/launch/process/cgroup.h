// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "process/cgroup_places.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <assay/base/files.h>
#include <assay/base/result.h>
#include <assay/probes/probe.h>
#include <assay/samples/records.h>

namespace assay::launch {

/// A control group of our own with its limits: one folder in v2, one per hierarchy in v1. Removes
/// its folders when destroyed; whoever is still inside must have been ended before. Controllers
/// that it had to enable in the parent (v2's cgroup.subtree_control) stay enabled: nobody can tell
/// who else has come to rely on them, and to disable one would take limits and counters from every
/// group beside ours without a word, also from those of another `assay`.
class Cgroup {
 public:
  /// Makes the folders and sets the limits. Fails with the reason when no group can be made, or
  /// when one of the limits cannot be applied; nothing is left behind then.
  static Result<Cgroup> make(const SysRoot& root, const CgroupPlaces& places,
                             const std::string& name, const Limits& limits);
  Cgroup(Cgroup&&) = default;
  Cgroup& operator=(Cgroup&& other) noexcept;
  ~Cgroup();

  const probes::CgroupPaths& paths() const { return paths_; }
  bool unified() const { return paths_.unified; }
  /// The real paths of the folders.
  const std::vector<std::string>& folders() const { return folders_; }
  /// Controllers that this machine has and that could not be used, with the reason.
  const std::vector<NotMeasured>& notes() const { return notes_; }

 private:
  explicit Cgroup(const SysRoot& root) : root_(root) {}
  Result<void> make_v1(const std::vector<V1Place>& places, const std::string& name);
  Result<void> make_v2(const std::vector<V2Place>& places, const std::string& name,
                       const Limits& limits);
  void enable_controllers(const V2Place& place, std::string& reason) const;
  Result<void> make_folder(const std::string& folder);
  Result<void> apply(const Limits& limits);
  std::string missing_controller(const Limits& limits) const;
  void remove();

  SysRoot root_;
  probes::CgroupPaths paths_;
  std::vector<std::string> folders_;
  std::vector<NotMeasured> notes_;
};

/// How many processes of the group the kernel has killed for lack of memory; nothing when it cannot
/// tell.
std::optional<uint64_t> oom_kills(const SysRoot& root, const probes::CgroupPaths& paths);

/// How many new processes or threads the group's limit of them has refused; nothing when it cannot
/// be told.
std::optional<uint64_t> forks_refused(const SysRoot& root, const probes::CgroupPaths& paths);

/// One value to write, as absolute path of the machine.
struct LimitWrite {
  std::string_view controller;
  std::string file;  ///< empty: the group has no folder for that controller
  std::string value;
  bool if_present = false;  ///< not every kernel has this file

  bool operator==(const LimitWrite&) const = default;
};
std::vector<LimitWrite> limit_writes(const probes::CgroupPaths& paths, const Limits& limits);
/// The same for a share of the CPU time that comes in turns as short as the kernel has them.
std::vector<LimitWrite> turn_writes(const probes::CgroupPaths& paths, double cores);

/// "cpus 1.5, memory 256 MiB, pids 20": what a user asked for.
std::string describe(const Limits& limits);
/// "256 MiB" where it comes out even, else as format_bytes.
std::string format_limit(uint64_t bytes);

}  // namespace assay::launch
