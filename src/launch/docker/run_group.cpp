// SPDX-License-Identifier: Apache-2.0
#include "docker/run_group.h"

#include "process/tree.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fmt/format.h>
#include <sys/stat.h>

namespace assay::launch {
namespace {

using Folder = std::string probes::CgroupPaths::*;
constexpr std::array<Folder, 6> kFolders = {
    &probes::CgroupPaths::v2,     &probes::CgroupPaths::cpu,   &probes::CgroupPaths::cpuacct,
    &probes::CgroupPaths::memory, &probes::CgroupPaths::blkio, &probes::CgroupPaths::pids};

struct Controller {
  const char* name;
  Folder folder;
};
constexpr std::array<Controller, 5> kControllers = {{{"cpu", &probes::CgroupPaths::cpu},
                                                     {"cpuacct", &probes::CgroupPaths::cpuacct},
                                                     {"memory", &probes::CgroupPaths::memory},
                                                     {"blkio", &probes::CgroupPaths::blkio},
                                                     {"pids", &probes::CgroupPaths::pids}}};

bool has_controllers(const CgroupMount& mount) {
  return !mount.unified &&
         std::any_of(kControllers.begin(), kControllers.end(),
                     [&](const Controller& controller) { return mount.has(controller.name); });
}

/// "/c/docker/ID/init.scope" is "/c/docker/ID".
void cut_behind(std::string& folder, const std::string& id) {
  const size_t at = folder.rfind(id);
  if (id.empty() || at == std::string::npos) return;
  folder.resize(std::min(folder.size(), folder.find('/', at)));
}

}  // namespace

probes::CgroupPaths container_groups(const SysRoot& root, pid_t pid, const std::string& id) {
  probes::CgroupPaths paths = probes::cgroups_of(root, pid);
  for (const Folder folder : kFolders) cut_behind(paths.*folder, id);
  return paths;
}

Result<RunGroup> RunGroup::make(const SysRoot& root, const std::string& name) {
  RunGroup group(root, name);
  for (auto& mount : cgroup_mounts(root)) {
    if (!mount.is_whole()) continue;
    const std::string folder = root.path(group.folder(mount)).native();
    if (::mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST)
      return refused_errno(fmt::format("cannot make the control group {}", folder), errno);
    group.mounts_.push_back(std::move(mount));
  }
  if (group.mounts_.empty()) return refused("no control groups are mounted here");
  return group;
}

RunGroup::~RunGroup() {
  for (const auto& mount : mounts_) remove_group(root_.path(folder(mount)).native());
}

probes::CgroupPaths RunGroup::own() const {
  probes::CgroupPaths paths;
  paths.unified = std::none_of(mounts_.begin(), mounts_.end(), has_controllers);
  for (const auto& mount : mounts_) {
    if (mount.unified && paths.unified) paths.v2 = folder(mount);
    for (const auto& controller : kControllers) {
      if (mount.has(controller.name)) paths.*controller.folder = folder(mount);
    }
  }
  return paths;
}

bool RunGroup::is_above(const probes::CgroupPaths& container) const {
  const probes::CgroupPaths ours = own();
  return std::any_of(kFolders.begin(), kFolders.end(), [&](const Folder folder) {
    return !(ours.*folder).empty() && (container.*folder).starts_with(ours.*folder + "/");
  });
}

probes::CgroupPaths RunGroup::sampled(const probes::CgroupPaths& container) const {
  probes::CgroupPaths paths = own();
  for (const Folder folder : kFolders) {
    // In v1 it has the same CPU time, and for longer.
    const bool keeps = folder == &probes::CgroupPaths::cpuacct;
    if (!keeps && !(container.*folder).empty()) paths.*folder = container.*folder;
  }
  return paths;
}

probes::CgroupPaths RunGroup::totals(const probes::CgroupPaths& container) const {
  probes::CgroupPaths ours = own();
  return ours.unified ? ours : sampled(container);
}

}  // namespace assay::launch
