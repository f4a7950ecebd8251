// SPDX-License-Identifier: Apache-2.0
#include "docker/run_group.h"

#include "process/tree.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fmt/format.h>
#include <functional>
#include <sys/stat.h>

#include <assay/base/text.h>

namespace assay::launch {
namespace {

/// "… 25 0:22 / /sys/fs/cgroup/memory rw,… - cgroup cgroup rw,memory"
std::optional<CgroupMount> parse_mount(std::string_view line) {
  std::vector<std::string_view> fields;
  while (!line.empty()) fields.push_back(next_field(line, ' '));
  constexpr size_t kRoot = 3;
  constexpr size_t kFolder = 4;
  size_t dash = kFolder;
  while (dash < fields.size() && fields[dash] != "-") ++dash;
  if (dash + 3 >= fields.size() || fields[kRoot] != "/") return std::nullopt;
  const std::string_view type = fields[dash + 1];
  if (type != "cgroup" && type != "cgroup2") return std::nullopt;
  CgroupMount mount;
  mount.folder = fields[kFolder];
  mount.unified = type == "cgroup2";
  if (!mount.unified) mount.controllers = fields[dash + 3];
  return mount;
}

bool has(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    if (next_field(list, ',') == word) return true;
  }
  return false;
}

/// `folder_of` gives the group's folder in each hierarchy.
probes::CgroupPaths paths_of(const std::vector<CgroupMount>& mounts,
                             const std::function<std::string(const CgroupMount&)>& folder_of) {
  probes::CgroupPaths paths;
  paths.unified = std::none_of(mounts.begin(), mounts.end(), [](const CgroupMount& mount) {
    return has(mount.controllers, "memory");
  });
  for (const auto& mount : mounts) {
    if (mount.unified && paths.unified) paths.v2 = folder_of(mount);
    if (has(mount.controllers, "cpu")) paths.cpu = folder_of(mount);
    if (has(mount.controllers, "cpuacct")) paths.cpuacct = folder_of(mount);
    if (has(mount.controllers, "memory")) paths.memory = folder_of(mount);
    if (has(mount.controllers, "blkio")) paths.blkio = folder_of(mount);
    if (has(mount.controllers, "pids")) paths.pids = folder_of(mount);
  }
  return paths;
}

}  // namespace

std::vector<CgroupMount> cgroup_mounts(const SysRoot& root) {
  std::vector<CgroupMount> mounts;
  const std::string text = root.read("/proc/self/mountinfo").value_or("");
  for (std::string_view rest = text; !rest.empty();) {
    if (auto mount = parse_mount(next_field(rest, '\n'))) mounts.push_back(std::move(*mount));
  }
  return mounts;
}

Result<RunGroup> RunGroup::make(const SysRoot& root, const std::string& name) {
  RunGroup group(root, name);
  for (auto& mount : cgroup_mounts(root)) {
    const std::string folder = root.path(fmt::format("{}/{}", mount.folder, name)).native();
    if (::mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST)
      return refused_errno(fmt::format("cannot make the control group {}", folder), errno);
    group.mounts_.push_back(std::move(mount));
  }
  if (group.mounts_.empty()) return refused("no control groups are mounted here");
  return group;
}

RunGroup::~RunGroup() {
  for (const auto& mount : mounts_)
    remove_group(root_.path(fmt::format("{}/{}", mount.folder, name_)).native());
}

probes::CgroupPaths RunGroup::paths(const std::string& child) const {
  auto paths = paths_of(mounts_, [&](const CgroupMount& mount) {
    const std::string own = fmt::format("{}/{}", mount.folder, name_);
    const std::string below = fmt::format("{}/{}", own, child);
    return root_.exists(below) ? below : own;
  });
  // Kept beyond the container's end, and the same number.
  for (const auto& mount : mounts_) {
    if (has(mount.controllers, "cpuacct"))
      paths.cpuacct = fmt::format("{}/{}", mount.folder, name_);
  }
  return paths;
}

probes::CgroupPaths container_groups(const SysRoot& root, const std::string& id) {
  const std::array<std::string, 4> names = {
      "docker/" + id, fmt::format("system.slice/docker-{}.scope", id), "libpod_parent/libpod-" + id,
      fmt::format("machine.slice/libpod-{}.scope", id)};
  return paths_of(cgroup_mounts(root), [&](const CgroupMount& mount) -> std::string {
    for (const auto& name : names) {
      std::string folder = fmt::format("{}/{}", mount.folder, name);
      if (root.exists(folder)) return folder;
    }
    return "";
  });
}

}  // namespace assay::launch
