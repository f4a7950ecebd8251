// SPDX-License-Identifier: Apache-2.0
#include "cgroup_mounts.h"

#include <algorithm>
#include <optional>

#include <assay/base/text.h>

namespace assay::launch {
namespace {

/// Undoes mountinfo's \040 for a space and the like.
std::string unescape(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto digit = [&](size_t at) { return text[at] >= '0' && text[at] <= '7'; };
    if (text[i] == '\\' && i + 3 < text.size() && digit(i + 1) && digit(i + 2) && digit(i + 3)) {
      out += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 +
                               (text[i + 3] - '0'));
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

/// "… 25 0:22 / /sys/fs/cgroup/memory rw,… - cgroup cgroup rw,memory"
std::optional<CgroupMount> parse_mount(std::string_view line) {
  const size_t dash = line.find(" - ");
  if (dash == std::string_view::npos) return std::nullopt;
  std::string_view kind = line.substr(dash + 3);
  const std::string_view type = next_field(kind, ' ');
  if (type != "cgroup" && type != "cgroup2") return std::nullopt;
  next_field(kind, ' ');  // the source
  for (int skipped = 0; skipped < 3; ++skipped) next_field(line, ' ');
  CgroupMount mount;
  mount.unified = type == "cgroup2";
  mount.root = unescape(next_field(line, ' '));
  mount.point = unescape(next_field(line, ' '));
  mount.options = split(kind, ',');
  return mount;
}

}  // namespace

bool CgroupMount::has(std::string_view option) const {
  return std::find(options.begin(), options.end(), option) != options.end();
}

std::vector<CgroupMount> cgroup_mounts(const SysRoot& root) {
  const std::string text = root.read("/proc/self/mountinfo").value_or("");
  std::vector<CgroupMount> mounts;
  for (std::string_view rest = text; !rest.empty();) {
    if (auto mount = parse_mount(next_field(rest, '\n'))) mounts.push_back(std::move(*mount));
  }
  return mounts;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::string_view part = next_field(text, separator);
    if (!part.empty()) parts.emplace_back(part);
  }
  return parts;
}

}  // namespace assay::launch
