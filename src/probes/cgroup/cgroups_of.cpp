// SPDX-License-Identifier: Apache-2.0
#include "text/cgroup_paths.h"
#include "text/fields.h"

#include <filesystem>
#include <fmt/format.h>
#include <string>
#include <vector>

#include <assay/probes/group.h>

namespace assay::probes {
namespace {

using Mount = GroupTree::Mount;

/// The kernel writes blanks and backslashes in paths as \040 and the like.
std::string unescape(std::string_view text) {
  std::string plain;
  const auto octal = [&](size_t i) { return i < text.size() && text[i] >= '0' && text[i] <= '7'; };
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && octal(i + 1) && octal(i + 2) && octal(i + 3)) {
      plain += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 +
                                 (text[i + 3] - '0'));
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

std::vector<Mount> read_mounts(const SysRoot& root) {
  std::string text = root.read("/proc/self/mountinfo").value_or("");
  auto parse = parse_mountinfo_line;
  if (text.empty()) {
    text = root.read("/proc/mounts").value_or("");
    parse = parse_mounts_line;
  }
  std::vector<Mount> mounts;
  std::string_view rest = text;
  for (std::string_view line; next_line(rest, line);) {
    const auto mount = parse(line);
    if (!mount) continue;
    mounts.push_back({mount->unified, unescape(mount->root), unescape(mount->mount_point),
                      std::string(mount->options)});
  }
  return mounts;
}

/// The folder of group `path` below a mount. A container may have mounted only its own part of the
/// hierarchy; a group outside of that part has no folder here.
std::string folder_of(const SysRoot& root, const Mount& mount, std::string_view path) {
  std::string folder = mount.mount_point;
  if (mount.root == "/") {
    folder += path;
  } else if (path.substr(0, mount.root.size()) == mount.root) {
    folder += path.substr(mount.root.size());
  } else {
    return "";
  }
  return root.exists(folder) ? folder : "";
}

struct Controller {
  std::string_view name;
  std::string CgroupPaths::*folder;
};
constexpr Controller kControllers[] = {{"cpu", &CgroupPaths::cpu},
                                       {"cpuacct", &CgroupPaths::cpuacct},
                                       {"memory", &CgroupPaths::memory},
                                       {"blkio", &CgroupPaths::blkio},
                                       {"pids", &CgroupPaths::pids}};

void add_v1(const SysRoot& root, const Mount& mount, const CgroupMember& member,
            CgroupPaths& paths) {
  for (const auto& [name, folder] : kControllers) {
    if (!has_word(mount.options, name) || !has_word(member.controllers, name)) continue;
    if ((paths.*folder).empty()) paths.*folder = folder_of(root, mount, member.path);
  }
}

bool has_v1_controllers(const std::vector<Mount>& mounts) {
  for (const auto& mount : mounts) {
    for (const auto& controller : kControllers) {
      if (!mount.unified && has_word(mount.options, controller.name)) return true;
    }
  }
  return false;
}

bool has_member(const SysRoot& root, const std::string& folder, std::string_view pid) {
  const std::string members = root.read(folder + "/cgroup.procs").value_or("");
  std::string_view rest = members;
  for (std::string_view line; next_line(rest, line);)
    if (line == pid) return true;
  return false;
}

/// The group of the process, so many levels below `path`; empty: it is in none of those.
std::string group_with(const SysRoot& root, const std::string& folder, const std::string& path,
                       size_t levels, std::string_view pid) {
  if (levels == 0) return has_member(root, folder + path, pid) ? path : "";
  for (const auto& name : root.list(folder + path)) {
    const std::string child = fmt::format("{}/{}", path, name);
    if (!root.exists(folder + child + "/cgroup.procs")) continue;
    if (auto found = group_with(root, folder, child, levels - 1, pid); !found.empty()) return found;
  }
  return "";
}

/// A process in a namespace of its own sees all groups from its own one: a mount of the whole tree
/// is one of "/../.." to it, and others are in "/../../x". Where its own group is in that tree, it
/// finds out by looking for itself.
std::string own_group(const SysRoot& root, const Mount& mount) {
  constexpr std::string_view kUp = "/..";
  size_t levels = 0;
  std::string_view rest = mount.root;
  for (; rest.starts_with(kUp); rest.remove_prefix(kUp.size())) ++levels;
  if (levels == 0 || !rest.empty()) return "";
  const std::string stat = root.read("/proc/self/stat").value_or("");
  return group_with(root, mount.mount_point, "", levels, stat.substr(0, stat.find(' ')));
}

/// "/a/b" and "/../c" are "/a/c".
std::string joined(const std::string& base, std::string_view path) {
  std::string plain = std::filesystem::path(base + std::string(path)).lexically_normal();
  if (plain.size() > 1 && plain.ends_with('/')) plain.pop_back();
  return plain;
}

}  // namespace

bool CgroupPaths::empty() const {
  return v2.empty() && cpu.empty() && cpuacct.empty() && memory.empty() && blkio.empty() &&
         pids.empty();
}

CgroupPaths cgroups_of(const SysRoot& root, pid_t pid) {
  const auto mounts = read_mounts(root);
  const auto members = root.read(fmt::format("/proc/{}/cgroup", pid));
  CgroupPaths paths;
  if (!members) return paths;
  paths.unified = !has_v1_controllers(mounts);
  std::string_view rest = *members;
  for (std::string_view line; next_line(rest, line);) {
    const auto member = parse_cgroup_line(line);
    if (!member || member->path == "/") continue;
    for (const auto& mount : mounts) {
      if (!mount.unified) {
        add_v1(root, mount, *member, paths);
      } else if (paths.unified && member->controllers.empty() && paths.v2.empty()) {
        paths.v2 = folder_of(root, mount, member->path);
      }
    }
  }
  return paths;
}

GroupTree::GroupTree(const SysRoot& root) : root_(root), mounts_(read_mounts(root)) {
  unified_ = !has_v1_controllers(mounts_);
  for (const auto& mount : mounts_) {
    const bool fits =
        unified_ ? mount.unified : !mount.unified && has_word(mount.options, "cpuacct");
    if (!fits || !folder_.empty()) continue;
    folder_ = mount.mount_point;
    if (unified_) own_ = own_group(root, mount);
  }
}

std::string GroupTree::path_of(pid_t pid) const {
  const auto members = root_.read(fmt::format("/proc/{}/cgroup", pid));
  std::string_view rest = members ? std::string_view(*members) : std::string_view();
  for (std::string_view line; next_line(rest, line);) {
    const auto member = parse_cgroup_line(line);
    if (!member) continue;
    if (unified_ ? member->controllers.empty() : has_word(member->controllers, "cpuacct"))
      return own_.empty() ? std::string(member->path) : joined(own_, member->path);
  }
  return "";
}

CgroupPaths GroupTree::at(const std::string& path) const {
  CgroupPaths paths;
  paths.unified = unified_;
  for (const auto& mount : mounts_) {
    const std::string folder = mount.mount_point + path;
    if (mount.unified != unified_) continue;
    if (unified_ && paths.v2.empty()) paths.v2 = folder;
    for (const auto& [name, member] : kControllers) {
      if (!unified_ && has_word(mount.options, name) && (paths.*member).empty())
        paths.*member = folder;
    }
  }
  return paths;
}

}  // namespace assay::probes
