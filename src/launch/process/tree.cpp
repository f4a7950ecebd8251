// SPDX-License-Identifier: Apache-2.0
#include "process/tree.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <poll.h>
#include <system_error>
#include <unistd.h>

#include <assay/base/files.h>
#include <assay/base/text.h>
#include <assay/probes/probe.h>

namespace assay::launch {
namespace fs = std::filesystem;
namespace {

std::vector<std::string> groups_below(const std::string& folder) {
  std::vector<std::string> groups;
  std::error_code error;
  for (auto it = fs::directory_iterator(folder, error); !error && it != fs::directory_iterator();
       it.increment(error)) {
    std::error_code ignored;
    if (it->is_directory(ignored) && !it->is_symlink(ignored))
      groups.push_back(it->path().native());
  }
  return groups;
}

/// All that is listed, also what cannot be told: processes of a pid namespace that cannot be seen
/// from here are listed as 0.
void add_members(const std::string& folder, std::vector<pid_t>& members) {
  const std::string text = read_file(folder + "/cgroup.procs").value_or("");
  for (std::string_view rest = text; !rest.empty();)
    members.push_back(static_cast<pid_t>(parse_int(next_field(rest, '\n')).value_or(0)));
  for (const auto& group : groups_below(folder)) add_members(group, members);
}

bool try_remove(const std::string& folder) {
  for (const auto& group : groups_below(folder)) try_remove(group);
  return ::rmdir(folder.c_str()) == 0 || errno == ENOENT;
}

}  // namespace

std::vector<pid_t> processes_in_group(const std::string& folder) {
  std::vector<pid_t> pids;
  add_members(folder, pids);
  std::erase_if(pids, [](pid_t pid) { return pid <= 1; });
  return pids;
}

bool holds_only(const std::string& folder, std::span<const pid_t> tree) {
  std::vector<pid_t> members;
  add_members(folder, members);
  return !members.empty() && std::all_of(members.begin(), members.end(), [&](pid_t member) {
    return std::find(tree.begin(), tree.end(), member) != tree.end();
  });
}

std::vector<pid_t> processes_of_tree(std::span<const std::string> folders, pid_t ancestor) {
  std::vector<pid_t> pids = probes::descendants(SysRoot(), ancestor);
  for (const auto& folder : folders) add_members(folder, pids);
  std::sort(pids.begin(), pids.end());
  pids.erase(std::unique(pids.begin(), pids.end()), pids.end());
  std::erase_if(pids, [&](pid_t pid) { return pid <= 1 || pid == ancestor; });
  return pids;
}

int write_text(const std::string& file, std::string_view text) {
  const Fd fd(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd.valid()) return errno;
  // One write: control group files take each write as a whole value.
  return ::write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0
                                                                                          : errno;
}

void freeze_or_kill_groups(std::span<const std::string> folders) {
  for (const auto& folder : folders) {
    if (write_text(folder + "/cgroup.kill", "1") != 0) write_text(folder + "/pids.max", "0");
  }
}

bool remove_group(const std::string& folder) {
  constexpr int kTries = 100;
  for (int attempt = 0; attempt < kTries; ++attempt) {
    if (try_remove(folder)) return true;
    if (errno != EBUSY) return false;
    ::poll(nullptr, 0, 2);
  }
  return false;
}

}  // namespace assay::launch
