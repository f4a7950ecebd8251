// SPDX-License-Identifier: Apache-2.0
#include "text/cgroup_paths.h"

#include "text/fields.h"

#include <assay/base/text.h>

namespace assay::probes {

std::optional<CgroupMount> parse_mountinfo_line(std::string_view line) {
  const size_t dash = line.find(" - ");
  if (dash == line.npos) return std::nullopt;
  std::string_view before = line.substr(0, dash);
  std::string_view after = line.substr(dash + 3);
  skip_words(before, 3);
  CgroupMount mount;
  mount.root = next_word(before);
  mount.mount_point = next_word(before);
  const std::string_view type = next_word(after);
  skip_words(after, 1);
  mount.options = next_word(after);
  mount.unified = type == "cgroup2";
  if ((type != "cgroup" && type != "cgroup2") || mount.mount_point.empty()) return std::nullopt;
  return mount;
}

std::optional<CgroupMount> parse_mounts_line(std::string_view line) {
  skip_words(line, 1);
  CgroupMount mount;
  mount.root = "/";
  mount.mount_point = next_word(line);
  const std::string_view type = next_word(line);
  mount.options = next_word(line);
  mount.unified = type == "cgroup2";
  if ((type != "cgroup" && type != "cgroup2") || mount.mount_point.empty()) return std::nullopt;
  return mount;
}

std::optional<CgroupMember> parse_cgroup_line(std::string_view line) {
  if (!parse_uint(next_field(line, ':'))) return std::nullopt;
  CgroupMember member;
  member.controllers = next_field(line, ':');
  member.path = line;
  if (member.path.empty() || member.path.front() != '/') return std::nullopt;
  return member;
}

bool has_word(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    if (next_field(list, ',') == word) return true;
  }
  return false;
}

}  // namespace assay::probes
