// SPDX-License-Identifier: Apache-2.0
#include "act/owed.h"

#include <algorithm>

namespace assay::agent {
namespace {

constexpr size_t kMost = 1000;
constexpr auto kAgain = std::chrono::minutes(1);
constexpr auto kPodsStay = std::chrono::hours(1);

bool is_named(const AppIdentity& app) {
  return !app.pod.empty() && !app.container.empty();
}

const LiveApp* running(const LiveTable& table, const std::string& path, const Original& original) {
  const LiveApp* const same = table.find(path);
  if (same != nullptr && !same->ended()) return same;
  if (original.pod_uid.empty() || original.container.empty()) return nullptr;
  for (const auto& [other, app] : table.apps()) {
    const AppIdentity& identity = app->identity();
    if (!app->ended() && identity.group.pod_uid == original.pod_uid &&
        identity.container == original.container)
      return app.get();
  }
  return nullptr;
}

}  // namespace

void Owed::add(const std::string& path, Original original, Timestamp due) {
  if (debts_.size() >= kMost && !debts_.contains(path)) return;
  debts_[path] = {.original = std::move(original), .next = due, .seen = due};
}

void Owed::forget_old(Timestamp now) {
  std::erase_if(debts_, [&](const auto& entry) {
    const Debt& debt = entry.second;
    return !debt.original.pod_uid.empty() && now - debt.seen >= kPodsStay;
  });
}

std::optional<Owed::Due> Owed::due(const LiveTable& table, bool named, Timestamp now) {
  std::optional<Due> first;
  for (auto& [key, debt] : debts_) {
    const LiveApp* const app = running(table, key, debt.original);
    if (app == nullptr) continue;
    debt.seen = now;
    const AppIdentity& identity = app->identity();
    const bool waits = named && !identity.group.pod_uid.empty() && !is_named(identity);
    if (!first && !waits && now >= debt.next)
      first = {.key = key, .path = identity.path, .limits = debt.original.limits};
  }
  forget_old(now);
  return first;
}

void Owed::failed(const std::string& key, Timestamp now) {
  if (const auto found = debts_.find(key); found != debts_.end()) found->second.next = now + kAgain;
}

Originals Owed::all() const {
  Originals all;
  for (const auto& [key, debt] : debts_) all.emplace(key, debt.original);
  return all;
}

}  // namespace assay::agent
