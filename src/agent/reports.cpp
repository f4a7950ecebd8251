// SPDX-License-Identifier: Apache-2.0
#include "reports.h"

#include <algorithm>

namespace assay::agent {

using hooks::CallerId;
using hooks::ReportId;
using hooks::ReportKind;

Reports::Reports(const Clock& clock, LiveTable& table, Nanoseconds linger)
    : clock_(clock), table_(table), linger_(linger) {}

const AppReports* Reports::of(const std::string& path) const {
  const auto found = apps_.find(path);
  return found == apps_.end() ? nullptr : &found->second;
}

/// The app's own group, should the process be in one below it.
std::string Reports::path_of(const hooks::Caller& caller) const {
  std::string path = caller.pid == 0 ? "" : table_.tree().path_of(caller.pid);
  while (path.size() > 1) {
    if (table_.find(path) != nullptr) return path;
    path.erase(path.rfind('/'));
  }
  return "/process/" + (caller.command.empty() ? "unknown" : caller.command);
}

void Reports::label(AppReports& app) const {
  AppIdentity who;
  if (const LiveApp* live = table_.find(app.path)) who = live->identity();
  if (who.name.empty()) who.name = app.path.substr(app.path.rfind('/') + 1);
  const std::string& name = app.app.empty() ? who.name : app.app;
  app.labels = promapi::LabelText{
      {"app", name},      {"container", who.container},  {"id", app.path}, {"image", who.image},
      {"name", who.name}, {"namespace", who.name_space}, {"pod", who.pod}};
}

CallerId Reports::caller_connected(const hooks::Caller& caller) {
  const std::string path = path_of(caller);
  AppReports& app = apps_[path];
  app.path = path;
  ++app.callers;
  app.last_heard = clock_.now();
  label(app);
  size_t place = callers_.size();
  if (free_.empty()) {
    callers_.emplace_back();
  } else {
    place = free_.back();
    free_.pop_back();
  }
  callers_[place].app = &app;
  return CallerId(place);
}

void Reports::caller_named(CallerId caller, std::string_view app) {
  AppReports& named = *state(caller).app;
  named.app = app;
  label(named);
}

void Reports::caller_gone(CallerId caller) {
  CallerState& gone = state(caller);
  for (const auto& slot : gone.slots)
    if (slot.report->info.kind == ReportKind::rate) slot.report->value -= slot.last;
  --gone.app->callers;
  gone.slots.clear();
  gone.app = nullptr;
  free_.push_back(static_cast<size_t>(caller));
}

ReportId Reports::declare(CallerId caller, const hooks::ReportInfo& info) {
  CallerState& who = state(caller);
  auto& report = who.app->reports[info.name];
  if (!report) report = std::make_unique<Report>(Report{.info = info, .family = family_of(info)});
  who.slots.push_back({report.get(), 0});
  return ReportId(who.slots.size() - 1);
}

Reports::Slot& Reports::slot(CallerId caller, ReportId report) {
  CallerState& who = state(caller);
  who.app->last_heard = clock_.now();
  return who.slots[static_cast<size_t>(report)];
}

void Reports::value(CallerId caller, ReportId report, Timestamp time, double value) {
  Slot& own = slot(caller, report);
  Report& shared = *own.report;
  switch (shared.info.kind) {
    case ReportKind::rate:
      shared.value += value - own.last;
      break;
    case ReportKind::counter:
      shared.value += std::max(0.0, value - own.last);
      break;
    case ReportKind::number:
    case ReportKind::timer:
      shared.value = value;
      break;
  }
  own.last = value;
  shared.time = time;
  if (shared.info.kind != ReportKind::counter) shared.window.add(time, shared.value);
}

void Reports::durations(CallerId caller, ReportId report, Timestamp time,
                        const hooks::Histogram& added) {
  Report& shared = *slot(caller, report).report;
  shared.durations.merge(added);
  shared.recent.add(time, added);
  shared.time = time;
}

void Reports::lost(std::optional<CallerId> caller, std::string_view reason, uint64_t count) {
  const std::string source = caller ? state(*caller).app->path : "hooks";
  add_loss(losses_, {source, std::string(reason), count});
}

void Reports::beat() {
  const Timestamp now = clock_.now();
  std::erase_if(apps_, [&](const auto& entry) {
    const AppReports& app = entry.second;
    const bool gone =
        app.callers == 0 && table_.find(app.path) == nullptr && now - app.last_heard >= linger_;
    if (gone) forget_losses_of(app.path);
    return gone;
  });
}

void Reports::relabel(const std::string& path) {
  const auto found = apps_.find(path);
  if (found != apps_.end()) label(found->second);
}

/// They stay in the sum over all that are gone.
void Reports::forget_losses_of(const std::string& path) {
  for (size_t i = 0; i < losses_.size();) {
    if (losses_[i].source != path) {
      ++i;
      continue;
    }
    const Loss loss = losses_[i];
    losses_.erase(losses_.begin() + static_cast<std::ptrdiff_t>(i));
    add_loss(losses_, {"apps that are gone", loss.reason, loss.count});
  }
}

}  // namespace assay::agent
