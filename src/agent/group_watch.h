// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <assay/base/files.h>
#include <assay/base/result.h>

namespace assay::agent {

/// Told what happens to control groups, by their paths below the hierarchy's top ("/docker/x").
class GroupListener {
 public:
  virtual ~GroupListener() = default;
  /// Returns whether to look into the group for others.
  virtual bool group_appeared(const std::string& path) = 0;
  virtual void group_gone(const std::string& path) = 0;
  /// Processes came into a group or, in v2, the last one has left it.
  virtual void members_changed(const std::string& path) = 0;
};

/// Follows a hierarchy of control groups by inotify, without looking again and again. Groups whose
/// making was missed while the kernel's queue was full are found by a new look at the whole tree.
class GroupWatch {
 public:
  /// `folder` is the hierarchy's top on this machine, as GroupTree names it.
  static Result<GroupWatch> start(std::string folder, bool unified, GroupListener& listener);

  /// Readable when poll() has something to do.
  int fd() const { return inotify_.get(); }
  /// Takes all events that have come, without waiting.
  void poll();
  size_t groups() const { return groups_.size(); }

 private:
  struct Watched {
    std::string path;
    bool is_folder = false;  ///< else the file that tells of members
  };
  struct Group {
    int folder = -1;
    int members = -1;
  };

  GroupWatch(std::string folder, bool unified, GroupListener& listener, Fd inotify)
      : folder_(std::move(folder)),
        unified_(unified),
        listener_(&listener),
        inotify_(std::move(inotify)) {}
  void add(const std::string& path);
  void add_children(const std::string& path);
  void remove(const std::string& path);
  void watch_members(const std::string& path, Group& group);
  void look_again();
  void take(int watch, uint32_t mask, std::string_view name);

  std::string folder_;
  bool unified_;
  GroupListener* listener_;
  Fd inotify_;
  std::unordered_map<int, Watched> watches_;
  std::unordered_map<std::string, Group> groups_;  ///< by path; the top is ""
};

}  // namespace assay::agent
