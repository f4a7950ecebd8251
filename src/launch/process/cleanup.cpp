// SPDX-License-Identifier: Apache-2.0
#include "process/cleanup.h"

#include "cgroup_mounts.h"
#include "process/cgroup_places.h"
#include "process/tree.h"

#include <algorithm>
#include <csignal>
#include <fmt/format.h>
#include <map>
#include <poll.h>
#include <set>
#include <sys/syscall.h>
#include <unistd.h>

#include <assay/base/text.h>
#include <assay/launch/launcher.h>

namespace assay::launch {
namespace {

constexpr int kPasses = 50;
constexpr int kWaitForDeathMilliseconds = 1000;

/// Us, and all that we run below: a leftover may be the very shell that the user sits in.
std::vector<pid_t> spared(const SysRoot& root) {
  std::vector<pid_t> pids;
  for (pid_t pid = ::getpid(); pid > 0;) {
    pids.push_back(pid);
    const auto stat = read_stat(root, pid);
    pid = stat ? stat->parent : 0;
  }
  return pids;
}

std::vector<pid_t> all_processes(const SysRoot& root) {
  std::vector<pid_t> pids;
  for (const auto& name : root.list("/proc")) {
    if (const auto pid = parse_int(name); pid && *pid > 1) pids.push_back(static_cast<pid_t>(*pid));
  }
  return pids;
}

Fd open_process(pid_t pid) {
  return Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
}

void kill_process(const Fd& process) {
  ::syscall(SYS_pidfd_send_signal, process.get(), SIGKILL, nullptr, 0);
}

void wait_for_death(const std::vector<Fd>& processes) {
  for (const Fd& process : processes) {
    if (!process.valid()) continue;
    pollfd waiting = {process.get(), POLLIN, 0};
    ::poll(&waiting, 1, kWaitForDeathMilliseconds);
  }
}

bool is_leftover(const SysRoot& root, const Owner& owner) {
  return state_of(root, owner) == ProcessState::dead;
}

/// Where groups of ours may be: below our own group, and below the root of every hierarchy.
std::vector<std::string> group_folders(const SysRoot& root) {
  std::vector<std::string> folders = cgroup_parents(root);
  for (const auto& mount : cgroup_mounts(root)) {
    if (mount.is_whole()) folders.push_back(mount.point);
  }
  std::sort(folders.begin(), folders.end());
  folders.erase(std::unique(folders.begin(), folders.end()), folders.end());
  return folders;
}

/// In v1 a group is in every hierarchy; it is told of once.
void clean_groups(const SysRoot& root, std::vector<std::string>& done) {
  std::set<std::string> removed;
  for (const auto& parent : group_folders(root)) {
    for (const auto& name : root.list(parent)) {
      const auto owner = group_owner(name);
      if (!owner || !is_leftover(root, *owner)) continue;
      const std::string folder = root.path(fmt::format("{}/{}", parent, name)).native();
      for (const pid_t pid : kill_group(folder)) {
        done.push_back(fmt::format("ended process {} in {}", pid, folder));
      }
      if (remove_group(folder)) {
        removed.insert(name);
      } else {
        done.push_back(fmt::format("could not remove control group {}: rmdir it as root", folder));
      }
    }
  }
  for (const auto& name : removed) done.push_back(fmt::format("removed control group {}", name));
}

}  // namespace

std::optional<Mark> parse_mark(std::string_view environ_file) {
  std::optional<Owner> owner;
  std::string run;
  while (!environ_file.empty()) {
    std::string_view value = next_field(environ_file, '\0');
    const std::string_view name = next_field(value, '=');
    if (name == kRunVariable) run = std::string(value);
    if (name == kOwnerVariable) owner = Owner::parse(value);
  }
  if (!owner || run.empty()) return std::nullopt;
  return Mark{std::move(run), *owner};
}

std::vector<Killed> kill_marked(const std::function<bool(const Mark&)>& belongs) {
  const SysRoot root;
  const std::vector<pid_t> keep = spared(root);
  std::map<pid_t, Killed> all;
  for (int pass = 0; pass < kPasses; ++pass) {
    std::vector<Fd> dying;
    for (const pid_t pid : all_processes(root)) {
      if (std::find(keep.begin(), keep.end(), pid) != keep.end()) continue;
      const std::string folder = fmt::format("/proc/{}", pid);
      if (const auto seen = root.read(folder + "/environ"); !seen || !parse_mark(*seen)) continue;
      // Read again behind the open descriptor: now it is surely this process that dies.
      Fd process = open_process(pid);
      const auto text = root.read(folder + "/environ");
      const auto mark = text ? parse_mark(*text) : std::nullopt;
      if (!process.valid() || !mark || !belongs(*mark)) continue;
      all.try_emplace(pid, Killed{pid, root.read(folder + "/comm").value_or("?"), *mark});
      kill_process(process);
      dying.push_back(std::move(process));
    }
    if (dying.empty()) break;
    wait_for_death(dying);
  }
  std::vector<Killed> killed;
  killed.reserve(all.size());
  for (auto& entry : all) killed.push_back(std::move(entry.second));
  return killed;
}

std::vector<pid_t> kill_group(const std::string& folder) {
  const std::vector<pid_t> keep = spared(SysRoot());
  std::vector<pid_t> first;
  for (int pass = 0; pass < kPasses; ++pass) {
    const std::vector<pid_t> members = processes_in_group(folder);
    const bool ours = std::any_of(members.begin(), members.end(), [&](pid_t pid) {
      return std::find(keep.begin(), keep.end(), pid) != keep.end();
    });
    if (members.empty() || ours) break;
    if (pass == 0) first = members;
    freeze_or_kill_groups({&folder, 1});
    std::vector<Fd> dying;
    for (const pid_t pid : members) {
      dying.push_back(open_process(pid));
      if (dying.back().valid()) kill_process(dying.back());
    }
    wait_for_death(dying);
  }
  return first;
}

std::vector<std::string> clean_up_leftovers(const std::vector<std::string>& cut_off,
                                            const SysRoot& root) {
  std::vector<std::string> done;
  if (!root.is_live()) return done;
  const auto belongs = [&](const Mark& mark) {
    const std::string session = mark.run.substr(0, mark.run.find('/'));
    return std::find(cut_off.begin(), cut_off.end(), session) != cut_off.end() &&
           is_leftover(root, mark.owner);
  };
  if (!cut_off.empty()) {
    for (const Killed& killed : kill_marked(belongs)) {
      done.push_back(
          fmt::format("ended process {} ({}) of run {}", killed.pid, killed.name, killed.mark.run));
    }
  }
  clean_groups(root, done);
  return done;
}

}  // namespace assay::launch
