// SPDX-License-Identifier: Apache-2.0
#include "proc/process_finder.h"

#include "folder_entries.h"
#include "proc/descendants.h"
#include "text/fields.h"
#include "text/node.h"

#include <algorithm>
#include <array>

namespace assay::probes {
namespace {

std::string group_folder(const CgroupPaths& paths) {
  for (const auto* folder :
       {&paths.v2, &paths.memory, &paths.cpuacct, &paths.cpu, &paths.pids, &paths.blkio}) {
    if (!folder->empty()) return *folder;
  }
  return "";
}

std::optional<KeptFile> or_nothing(Result<KeptFile> file) {
  if (!file) return std::nullopt;
  return std::move(*file);
}

/// Of v1 the kernel keeps the list as it was for as long as somebody reads it more than once a
/// second through one descriptor.
std::optional<KeptFile> group_list(const SysRoot& root, const CgroupPaths& paths) {
  const std::string folder = group_folder(paths);
  if (folder.empty()) return std::nullopt;
  const std::string file = folder + "/cgroup.procs";
  return or_nothing(paths.unified ? KeptFile::open(root, file) : KeptFile::reopened(root, file));
}

}  // namespace

ProcessFinder::ProcessFinder(const SysRoot& root, const AppTarget& target)
    : root_(root),
      files_(root),
      top_(target.root),
      group_list_(group_list(root, target.cgroup)),
      loadavg_(or_nothing(KeptFile::open(root, "/proc/loadavg"))),
      has_children_files_(root.exists("/proc/thread-self/children")) {}

void ProcessFinder::find(const std::vector<pid_t>& known, std::vector<pid_t>& found) {
  if (group_list_ && find_in_group(found)) return;
  if (!anything_new()) return;
  if (!has_children_files_) {
    for (const pid_t pid : descendants_and_zombies(root_, top_)) found.push_back(pid);
    return;
  }
  for (const pid_t pid : known) add_children(pid, found);
  // New processes may have children of their own already.
  for (size_t i = 0; i < found.size(); ++i) {
    const bool is_new = !std::binary_search(known.begin(), known.end(), found[i]);
    if (is_new) add_children(found[i], found);
  }
}

bool ProcessFinder::find_in_group(std::vector<pid_t>& found) {
  auto text = group_list_->read();
  if (!text) return false;
  for (std::string_view line; next_line(*text, line);) {
    if (const pid_t pid = id_of(line); pid != 0) found.push_back(pid);
  }
  return true;
}

bool ProcessFinder::anything_new() {
  const auto text = loadavg_ ? loadavg_->read() : std::nullopt;
  const auto load = text ? parse_loadavg(*text) : std::nullopt;
  if (load && last_pid_ == load->last_pid) return false;
  if (load) last_pid_ = load->last_pid;
  return true;
}

void ProcessFinder::add_children(pid_t pid, std::vector<pid_t>& found) const {
  const Fd tasks = files_.open(pid, "task");
  for_each_number(tasks.get(), [&](pid_t thread) { add_children_of_thread(pid, thread, found); });
}

void ProcessFinder::add_children_of_thread(pid_t pid, pid_t thread,
                                           std::vector<pid_t>& found) const {
  const Fd fd = files_.open(pid, thread, "children");
  std::array<char, 16384> buffer;
  auto text = pread_text(fd.get(), buffer);
  if (!text) return;
  while (!text->empty()) {
    if (const pid_t child = id_of(next_word(*text)); child != 0) found.push_back(child);
  }
}

}  // namespace assay::probes
