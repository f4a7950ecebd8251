// SPDX-License-Identifier: Apache-2.0
#include "decide/decisions.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <unistd.h>

#include <assay/base/text.h>

namespace assay::agent {
namespace {

using probes::Use;

constexpr double kTenYears = 10 * 365 * 86400.0;

/// The names that a goal may use for what an app uses.
std::optional<Live> live_named(std::string_view metric) {
  if (metric == "cpu" || metric == "cores" || metric == "cpu_cores") return Live::cores;
  if (metric == "memory" || metric == "memory_bytes" || metric == "rss") return Live::memory;
  return std::nullopt;
}

const Report* report_named(const AppReports* reports, const std::string& name) {
  if (reports == nullptr) return nullptr;
  const auto found = reports->reports.find(name);
  return found == reports->reports.end() ? nullptr : found->second.get();
}

/// Since the last value of any name; nothing when there was none.
std::optional<Nanoseconds> silence_of(const AppReports* reports, Timestamp now) {
  std::optional<Nanoseconds> least;
  if (reports == nullptr) return least;
  for (const auto& [name, report] : reports->reports) {
    if (report->time == Timestamp()) continue;
    least = least ? std::min(*least, now - report->time) : now - report->time;
  }
  return least;
}

std::optional<double> finite(std::optional<double> value) {
  return value && std::isfinite(*value) ? value : std::nullopt;
}

double share_of(double part, double whole) {
  return whole > 0 ? part / whole : kUnknown;
}

struct NodeCpu {
  double cores = 0;
  double idle_seconds = 0;
};

/// From /proc/stat: the line of all cores, and one for each.
std::optional<NodeCpu> parse_stat(std::string_view text) {
  static const auto kTicks = static_cast<double>(::sysconf(_SC_CLK_TCK));
  NodeCpu cpu;
  std::string_view first = next_field(text, '\n');
  if (next_field(first, ' ') != "cpu") return std::nullopt;
  // "cpu  user nice system idle iowait ...": two spaces make an empty field.
  constexpr size_t kIdle = 4;
  constexpr size_t kIoWait = 5;
  for (size_t i = 0; i <= kIoWait; ++i) {
    const auto value = parse_uint(next_field(first, ' '));
    if (i >= kIdle) cpu.idle_seconds += static_cast<double>(value.value_or(0)) / kTicks;
  }
  while (text.starts_with("cpu")) {
    next_field(text, '\n');
    ++cpu.cores;
  }
  return cpu;
}

}  // namespace

Decisions::Decisions(const SysRoot& root, LiveTable& table, const Reports& reports,
                     const GoalBook& goals)
    : root_(root), table_(table), reports_(reports), goals_(goals) {}

const Decision* Decisions::of(const std::string& path) const {
  const auto found = apps_.find(path);
  return found == apps_.end() ? nullptr : &found->second;
}

void Decisions::read_node(Timestamp now) {
  const auto text = root_.read("/proc/stat");
  const auto cpu = text ? parse_stat(*text) : std::nullopt;
  if (!cpu) return;
  node_cores_ = cpu->cores;
  const NodeReading oldest = node_[node_next_];
  node_[node_next_] = {now, cpu->idle_seconds};
  node_next_ = (node_next_ + 1) % kNodeReadings;
  const double elapsed = seconds(now - oldest.time);
  if (oldest.time == Timestamp() || elapsed <= 0) return;
  node_idle_cores_ =
      std::clamp((cpu->idle_seconds - oldest.idle_seconds) / elapsed, 0.0, node_cores_);
}

void Decisions::gather_use(LiveApp& app, Decision& decision, Timestamp now) const {
  Evidence& evidence = decision.evidence;
  RecentUse& recent = decision.recent;
  recent.add(now, app.use());
  const double elapsed = recent.elapsed();
  evidence.over = from_seconds(elapsed);
  evidence.cores = share_of(recent.risen(Use::cpu_seconds), elapsed);
  evidence.cores_limit = app.limits().cores();
  evidence.throttled_share =
      share_of(recent.risen(Use::cpu_throttled_periods), recent.risen(Use::cpu_periods));
  evidence.cpu_wait_share = share_of(recent.risen(Use::cpu_waiting_seconds), elapsed);
  evidence.memory_wait_share = share_of(recent.risen(Use::memory_waiting_seconds), elapsed);
  evidence.disk_wait_share = share_of(recent.risen(Use::io_waiting_seconds), elapsed);
  evidence.memory_limit_hits = recent.risen(Use::memory_failures);
  evidence.memory = app.use()[Use::memory_working_set];
  evidence.memory_peak = app.use()[Use::memory_peak];
  evidence.memory_limit = app.limits().memory;
  evidence.running = now - app.appeared();
  evidence.leak.reset();
  if (!std::isfinite(evidence.memory)) return;
  decision.memory.add(now, evidence.memory);
  const auto growth = decision.memory.growth();
  if (!growth) return;
  evidence.leak = Leak{growth->per_second};
  if (evidence.memory_limit)
    evidence.leak->full_in = from_seconds(std::clamp(
        (*evidence.memory_limit - evidence.memory) / growth->per_second, 0.0, kTenYears));
}

void Decisions::gather_goals(const std::string& path, const LiveApp* app, Decision& decision,
                             Timestamp now) const {
  const AppReports* const reports = reports_.of(path);
  Evidence& evidence = decision.evidence;
  const auto& goals = goals_.of(path);
  evidence.goals.resize(goals.size());
  evidence.silent = silence_of(reports, now);
  for (size_t i = 0; i < goals.size(); ++i) {
    GoalState& state = evidence.goals[i];
    if (state.goal.text != goals[i].text) state.goal = goals[i];
    state.value.reset();
    const Report* const report = report_named(reports, goals[i].metric);
    const auto live = report == nullptr ? live_named(goals[i].metric) : std::nullopt;
    state.reported = !live;
    if (report != nullptr) {
      state.value = finite(latest_statistic(*report, goals[i].statistic, now));
      state.over = latest_length(*report, now);
    } else if (live && app != nullptr) {
      state.value = finite(latest_statistic(app->window(*live), goals[i].statistic, now));
      state.over = latest_length(app->window(*live), now);
    }
  }
}

void Decisions::decide(const std::string& path, LiveApp* app, Timestamp now) {
  const auto [place, is_new] = apps_.try_emplace(path);
  Decision& decision = place->second;
  if (app != nullptr) {
    decision.name = app->identity().name;
    app->watch_closely(!goals_.of(path).empty());
    gather_use(*app, decision, now);
  }
  if (decision.name.empty()) decision.name = path.substr(path.rfind('/') + 1);
  gather_goals(path, app, decision, now);
  Evidence& evidence = decision.evidence;
  evidence.node_cores = node_cores_;
  evidence.node_idle_cores = node_idle_cores_;
  const bool changed = decision.main.take(judge(evidence, decision.main.finding().verdict), now);
  const Finding leak = evidence.leak ? Finding{Verdict::leaking, Resource::memory} : Finding{};
  const bool leaks = decision.leak.take(leak, now);
  if ((changed || leaks) && on_change_) on_change_(path, decision);
}

void Decisions::beat(Timestamp now) {
  read_node(now);
  for (const auto& [path, app] : table_.apps())
    if (!app->ended()) decide(path, app.get(), now);
  for (const auto& [path, reports] : reports_.apps())
    if (reports.callers > 0 && table_.find(path) == nullptr && !goals_.of(path).empty())
      decide(path, nullptr, now);
  std::erase_if(apps_, [&](const auto& entry) {
    const LiveApp* const app = table_.find(entry.first);
    const AppReports* const reports = reports_.of(entry.first);
    return app != nullptr ? app->ended().has_value() : reports == nullptr || reports->callers == 0;
  });
}

}  // namespace assay::agent
