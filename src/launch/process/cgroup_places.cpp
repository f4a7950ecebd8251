// SPDX-License-Identifier: Apache-2.0
#include "process/cgroup_places.h"

#include "cgroup_mounts.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>

#include <assay/base/text.h>

namespace assay::launch {
namespace {

constexpr std::array<std::string_view, 5> kV1Wanted = {"cpu", "cpuacct", "memory", "blkio", "pids"};
constexpr std::array<std::string_view, 4> kV2Wanted = {"cpu", "memory", "io", "pids"};

template <class List>
bool contains(const List& list, std::string_view item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

/// Controller → our group in its hierarchy, from /proc/self/cgroup; "" is v2.
std::map<std::string, std::string> read_own_groups(const SysRoot& root) {
  const std::string text = root.read("/proc/self/cgroup").value_or("");
  std::map<std::string, std::string> groups;
  for (std::string_view rest = text; !rest.empty();) {
    std::string_view line = next_field(rest, '\n');
    const std::string_view id = next_field(line, ':');
    const std::string_view controllers = next_field(line, ':');
    if (id == "0") groups[""] = std::string(line);
    for (auto& controller : split(controllers, ',')) groups[controller] = std::string(line);
  }
  return groups;
}

/// The folder of a group below a mount point. A container may see a path from outside its mount (or
/// "/.." out of its namespace): then the mount point is all there is.
std::string folder_of(const SysRoot& root, const CgroupMount& mount, const std::string& group) {
  std::string_view inside = group;
  if (mount.root != "/") {
    if (!inside.starts_with(mount.root)) return mount.point;
    inside.remove_prefix(mount.root.size());
    if (!inside.empty() && inside.front() != '/') return mount.point;
  }
  if (inside.empty() || inside == "/" || inside.starts_with("/..")) return mount.point;
  std::string folder = mount.point + std::string(inside);
  return root.exists(folder) ? folder : mount.point;
}

std::vector<V1Place> find_v1(const SysRoot& root, const std::vector<CgroupMount>& mounts) {
  const auto groups = read_own_groups(root);
  std::vector<V1Place> places;
  std::vector<std::string> seen;
  for (const CgroupMount& mount : mounts) {
    if (mount.unified) continue;
    V1Place place;
    for (const auto& option : mount.options) {
      if (contains(kV1Wanted, option) && !contains(seen, option))
        place.controllers.push_back(option);
    }
    if (place.controllers.empty()) continue;
    seen.insert(seen.end(), place.controllers.begin(), place.controllers.end());
    const auto own = groups.find(place.controllers.front());
    place.parent = own == groups.end() ? mount.point : folder_of(root, mount, own->second);
    places.push_back(std::move(place));
  }
  return places;
}

std::string parent_folder(const std::string& folder, const std::string& top) {
  if (folder.size() <= top.size()) return top;
  return folder.substr(0, folder.rfind('/'));
}

V2Place describe_v2(const SysRoot& root, const std::string& parent) {
  V2Place place;
  place.parent = parent;
  const auto on = split(root.read(parent + "/cgroup.subtree_control").value_or(""), ' ');
  const auto there = split(root.read(parent + "/cgroup.controllers").value_or(""), ' ');
  for (const std::string_view controller : kV2Wanted) {
    if (contains(on, controller)) {
      place.enabled.emplace_back(controller);
    } else if (contains(there, controller)) {
      place.can_enable.emplace_back(controller);
    }
  }
  return place;
}

/// A group that holds processes itself cannot hand controllers on, so the parent of our own comes
/// first: its children are where processes live.
std::vector<V2Place> find_v2(const SysRoot& root, const CgroupMount& mount) {
  const auto groups = read_own_groups(root);
  const auto own_group = groups.find("");
  const std::string own =
      own_group == groups.end() ? mount.point : folder_of(root, mount, own_group->second);
  std::vector<V2Place> places;
  for (const std::string& folder : {parent_folder(own, mount.point), own, mount.point}) {
    const bool known = std::any_of(places.begin(), places.end(),
                                   [&](const V2Place& place) { return place.parent == folder; });
    if (!known) places.push_back(describe_v2(root, folder));
  }
  std::stable_partition(places.begin(), places.end(), [](const V2Place& place) {
    return place.enabled.size() + place.can_enable.size() == kV2Wanted.size();
  });
  return places;
}

}  // namespace

CgroupPlaces find_cgroup_places(const SysRoot& root) {
  const std::vector<CgroupMount> mounts = cgroup_mounts(root);
  CgroupPlaces places;
  places.v1 = find_v1(root, mounts);
  if (!places.v1.empty()) return places;
  const auto unified = std::find_if(mounts.begin(), mounts.end(),
                                    [](const CgroupMount& mount) { return mount.unified; });
  if (unified != mounts.end()) places.v2 = find_v2(root, *unified);
  return places;
}

std::vector<std::string> cgroup_parents(const SysRoot& root) {
  const auto groups = read_own_groups(root);
  std::vector<std::string> parents;
  for (const CgroupMount& mount : cgroup_mounts(root)) {
    const auto own = std::find_if(groups.begin(), groups.end(), [&](const auto& group) {
      return mount.unified ? group.first.empty() : mount.has(group.first);
    });
    std::string folder = own == groups.end() ? mount.point : folder_of(root, mount, own->second);
    while (true) {
      if (!contains(parents, folder)) parents.push_back(folder);
      if (folder.size() <= mount.point.size()) break;
      folder = parent_folder(folder, mount.point);
    }
  }
  return parents;
}

}  // namespace assay::launch
