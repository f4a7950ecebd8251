// SPDX-License-Identifier: Apache-2.0
#include "live_table.h"

namespace assay::agent {

LiveTable::LiveTable(const SysRoot& root, const Clock& clock, const TableSettings& settings)
    : root_(root), clock_(clock), settings_(settings), tree_(root) {}

LiveApp* LiveTable::find(const std::string& path) {
  const auto found = apps_.find(path);
  return found == apps_.end() ? nullptr : found->second.get();
}

const LiveApp* LiveTable::find(const std::string& path) const {
  const auto found = apps_.find(path);
  return found == apps_.end() ? nullptr : found->second.get();
}

bool LiveTable::is_wanted(const GroupName& name) const {
  return name.kind == GroupKind::container || name.kind == GroupKind::run ||
         (name.kind == GroupKind::service && settings_.services);
}

bool LiveTable::group_appeared(const std::string& path) {
  GroupName name = name_group(path);
  // A run's group may hold the groups of its containers, which are apps of their own.
  const bool look_inside = name.kind == GroupKind::other || name.kind == GroupKind::run;
  if (!is_wanted(name)) return look_inside;
  if (apps_.size() >= settings_.apps) {
    ++not_watched_;
    return look_inside;
  }
  auto& app = apps_[path];
  app = std::make_unique<LiveApp>(root_, tree_, path, std::move(name), clock_.now());
  if (on_app_) on_app_(*app);
  members_changed(path);
  return look_inside;
}

void LiveTable::members_changed(const std::string& path) {
  LiveApp* const app = find(path);
  if (app == nullptr || app->ended()) return;
  const auto first = app->first_process();
  if (!first) {
    // In v2 this is the moment at which the last member has left.
    if (tree_.unified() && first_processes_.erase(path) > 0) app->sample_end(clock_.now());
    return;
  }
  pid_t& known = first_processes_[path];
  if (known == *first) return;
  known = *first;
  app->go_on();
  app->watch_network_of(*first);
  app->runs_since(*first, clock_.now());
  app->sample(clock_.now());
  if (on_process_) on_process_(path, *first);
}

void LiveTable::process_ended(const std::string& path) {
  LiveApp* const app = find(path);
  if (app == nullptr || app->ended()) return;
  app->sample_end(clock_.now());
  // A runtime enters the group with helpers of its own, which end before the app begins. The one
  // that has ended stays known: old kernels list it for as long as nobody has waited for it.
  members_changed(path);
}

void LiveTable::group_gone(const std::string& path) {
  first_processes_.erase(path);
  if (LiveApp* const app = find(path)) app->end(clock_.now());
}

void LiveTable::beat() {
  const Timestamp now = clock_.now();
  for (auto& [path, app] : apps_) {
    if (!app->ended()) app->sample(now);
  }
  forget_old(now);
}

void LiveTable::forget_old(Timestamp now) {
  std::erase_if(apps_, [&](const auto& entry) {
    const auto ended = entry.second->ended();
    return ended && now - *ended >= settings_.linger;
  });
}

}  // namespace assay::agent
