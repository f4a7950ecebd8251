// SPDX-License-Identifier: Apache-2.0
#include "proc/descendants.h"

#include "text/process.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include <assay/base/text.h>
#include <assay/probes/probe.h>

namespace assay::probes {
namespace {

struct Link {
  pid_t pid;
  pid_t parent;
  bool live;
};

std::vector<Link> all_processes(const SysRoot& root) {
  std::vector<Link> links;
  std::array<char, 4096> buffer{};
  for (const auto& name : root.list("/proc")) {
    if (!parse_uint(name)) continue;
    const auto fd = root.open(fmt::format("/proc/{}/stat", name));
    if (!fd) continue;
    const auto text = pread_text(fd->get(), buffer);
    const auto stat = text ? parse_process_stat(*text) : std::nullopt;
    if (!stat) continue;
    // A main thread that has ended shows as a zombie though its other threads go on.
    const bool live = stat->state != 'X' && (stat->state != 'Z' || stat->threads > 1);
    links.push_back({static_cast<pid_t>(stat->pid), static_cast<pid_t>(stat->parent), live});
  }
  std::sort(links.begin(), links.end(), [](Link a, Link b) { return a.parent < b.parent; });
  return links;
}

std::vector<pid_t> below(const SysRoot& root, pid_t pid, bool with_zombies) {
  const auto links = all_processes(root);
  std::vector<pid_t> found;
  std::vector<pid_t> ancestors = {pid};
  for (size_t i = 0; i < ancestors.size() && ancestors.size() <= links.size(); ++i) {
    auto child =
        std::lower_bound(links.begin(), links.end(), ancestors[i],
                         [](const Link& link, pid_t parent) { return link.parent < parent; });
    for (; child != links.end() && child->parent == ancestors[i]; ++child) {
      ancestors.push_back(child->pid);
      if (child->live || with_zombies) found.push_back(child->pid);
    }
  }
  return found;
}

}  // namespace

std::vector<pid_t> descendants(const SysRoot& root, pid_t pid) {
  return below(root, pid, false);
}

std::vector<pid_t> descendants_and_zombies(const SysRoot& root, pid_t pid) {
  return below(root, pid, true);
}

}  // namespace assay::probes
