// SPDX-License-Identifier: Apache-2.0
#include "group_watch.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <sys/inotify.h>
#include <unistd.h>

namespace assay::agent {
namespace {

namespace fs = std::filesystem;

constexpr uint32_t kFolderEvents = IN_CREATE | IN_DELETE | IN_ONLYDIR;

bool is_folder(const std::string& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

}  // namespace

Result<GroupWatch> GroupWatch::start(std::string folder, bool unified, GroupListener& listener) {
  Fd inotify(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  if (!inotify.valid()) return refused_errno("cannot watch control groups", errno);
  GroupWatch watch(std::move(folder), unified, listener, std::move(inotify));
  const int top = ::inotify_add_watch(watch.fd(), watch.folder_.c_str(), kFolderEvents);
  if (top < 0)
    return refused_errno(fmt::format("cannot watch control groups in {}", watch.folder_), errno);
  watch.watches_[top] = {"", true};
  watch.groups_[""] = {top, -1};
  watch.add_children("");
  return watch;
}

void GroupWatch::add(const std::string& path) {
  if (groups_.contains(path)) return;
  Group& group = groups_[path];
  // Its members first: one that comes while we look would be missed otherwise.
  watch_members(path, group);
  if (!listener_->group_appeared(path)) return;
  const std::string folder = folder_ + path;
  group.folder = ::inotify_add_watch(fd(), folder.c_str(), kFolderEvents);
  if (group.folder < 0) return;
  watches_[group.folder] = {path, true};
  add_children(path);
}

/// In v2 a file of its own changes when the first member comes and when the last one leaves; in v1
/// only the writing of a member into the group can be seen.
void GroupWatch::watch_members(const std::string& path, Group& group) {
  const std::string file = folder_ + path + (unified_ ? "/cgroup.events" : "/cgroup.procs");
  group.members = ::inotify_add_watch(fd(), file.c_str(), IN_MODIFY);
  if (group.members >= 0) watches_[group.members] = {path, false};
}

void GroupWatch::add_children(const std::string& path) {
  std::error_code error;
  for (fs::directory_iterator entries(folder_ + path, error), end; !error && entries != end;
       entries.increment(error)) {
    if (entries->is_directory(error))
      add(fmt::format("{}/{}", path, entries->path().filename().native()));
  }
}

void GroupWatch::remove(const std::string& path) {
  const auto found = groups_.find(path);
  if (found == groups_.end()) return;
  for (const int watch : {found->second.folder, found->second.members}) {
    if (watch < 0) continue;
    ::inotify_rm_watch(fd(), watch);
    watches_.erase(watch);
  }
  groups_.erase(found);
  listener_->group_gone(path);
}

void GroupWatch::look_again() {
  std::vector<std::string> gone;
  for (const auto& [path, group] : groups_)
    if (!path.empty() && !is_folder(folder_ + path)) gone.push_back(path);
  for (const auto& path : gone) remove(path);
  std::vector<std::string> looked_into;
  for (const auto& [path, group] : groups_)
    if (group.folder >= 0) looked_into.push_back(path);
  for (const auto& path : looked_into) add_children(path);
}

void GroupWatch::take(int watch, uint32_t mask, std::string_view name) {
  if ((mask & IN_Q_OVERFLOW) != 0) return look_again();
  const auto found = watches_.find(watch);
  if (found == watches_.end()) return;
  const Watched watched = found->second;
  if ((mask & IN_IGNORED) != 0) {
    watches_.erase(watch);
  } else if (!watched.is_folder) {
    listener_->members_changed(watched.path);
  } else if ((mask & IN_ISDIR) != 0) {
    const std::string path = fmt::format("{}/{}", watched.path, name);
    if ((mask & IN_CREATE) != 0) add(path);
    if ((mask & IN_DELETE) != 0) remove(path);
  }
}

void GroupWatch::poll() {
  alignas(inotify_event) std::array<char, 16384> buffer;
  while (true) {
    const ssize_t length = ::read(fd(), buffer.data(), buffer.size());
    if (length <= 0) return;
    for (ssize_t at = 0; at < length;) {
      inotify_event event;
      std::memcpy(&event, buffer.data() + at, sizeof event);
      const char* const name = buffer.data() + at + sizeof event;
      at += static_cast<ssize_t>(sizeof event + event.len);
      take(event.wd, event.mask, event.len > 0 ? std::string_view(name) : std::string_view());
    }
  }
}

}  // namespace assay::agent
