// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "group_watch.h"
#include "live_app.h"

#include <functional>
#include <map>
#include <memory>

#include <assay/base/time.h>

namespace assay::agent {

struct TableSettings {
  Nanoseconds linger = std::chrono::seconds(60);  ///< how long one that has ended is still shown
  bool services = true;                           ///< of systemd
  size_t apps = 5000;                             ///< further ones are counted, not watched
};

/// All apps of this machine, from the birth of their control group to some time after its end.
class LiveTable final : public GroupListener {
 public:
  /// Told of an app whose first process was seen for the first time: from now on its end is worth
  /// waiting for.
  using OnProcess = std::function<void(const std::string& path, pid_t pid)>;
  /// Told of each new app, so that somebody finds out its name.
  using OnApp = std::function<void(const LiveApp& app)>;

  LiveTable(const SysRoot& root, const Clock& clock, const TableSettings& settings);

  void on_process(OnProcess call) { on_process_ = std::move(call); }
  void on_app(OnApp call) { on_app_ = std::move(call); }

  void change_linger(Nanoseconds linger) { settings_.linger = linger; }

  const probes::GroupTree& tree() const { return tree_; }
  /// Reads all that run, and forgets those that have ended long ago.
  void beat();
  /// Its first process has ended: what it used is read while it can be, and the next process, if
  /// there is one, takes its place.
  void process_ended(const std::string& path);

  const std::map<std::string, std::unique_ptr<LiveApp>>& apps() const { return apps_; }
  LiveApp* find(const std::string& path);
  const LiveApp* find(const std::string& path) const;
  uint64_t not_watched() const { return not_watched_; }

  bool group_appeared(const std::string& path) override;
  void group_gone(const std::string& path) override;
  void members_changed(const std::string& path) override;

 private:
  bool is_wanted(const GroupName& name) const;
  void forget_old(Timestamp now);

  SysRoot root_;
  const Clock& clock_;
  TableSettings settings_;
  probes::GroupTree tree_;
  OnProcess on_process_;
  OnApp on_app_;
  std::map<std::string, std::unique_ptr<LiveApp>> apps_;  ///< by path
  std::map<std::string, pid_t> first_processes_;          ///< by path, of those that are awaited
  uint64_t not_watched_ = 0;
};

}  // namespace assay::agent
