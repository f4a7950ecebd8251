// SPDX-License-Identifier: Apache-2.0
#include "kubernetes/agent_series.h"

#include <algorithm>
#include <limits>

#include <assay/samples/metric.h>

namespace assay::launch {
namespace {

/// Of one name between two answers; further ones are counted as lost.
constexpr uint64_t kMostDurations = 10'000;

std::optional<MetricId> metric_id(const std::string& name) {
  const Metric* const found = find_metric(name);
  if (found == nullptr || found->name != name) return std::nullopt;
  return static_cast<MetricId>(found - catalog().data());
}

using Durations = std::map<double, uint64_t>;

/// Counts never go down, but with an agent that has been started again.
bool is_new(const Durations& told, const Durations& known) {
  return std::any_of(known.begin(), known.end(), [&](const auto& before) {
    const auto now = told.find(before.first);
    return now == told.end() || now->second < before.second;
  });
}

}  // namespace

AgentSeries::Line* AgentSeries::line_of(const std::string& name, Timestamp started,
                                        SampleSink& sink) {
  if (const auto known = totals_.find(name); known != totals_.end()) return &known->second;
  const auto id = metric_id(name);
  if (!id) return nullptr;
  Line& line = totals_[name];
  // By that word others know that memory is a group's working set.
  const bool of_group = !name.starts_with("network_");
  line.id = sink.declare(describe(*id, Scope::app, of_group ? who_ + " (cgroup)" : who_));
  // A new group has used nothing yet.
  if (metric(*id).kind == Kind::counter) {
    sink.sample(line.id, started, 0);
    line.last = started;
  }
  return &line;
}

void AgentSeries::push(const AgentApp& app, const ClockOffset& clock, SampleSink& sink) {
  for (const auto& report : app.reports) push_report(report, clock, sink);
  if (read_ && app.read <= *read_) return;
  read_ = app.read;
  const Timestamp time = clock.ours(app.read);
  const Timestamp started = std::min(clock.ours(app.started), time);
  for (const auto& [name, value] : app.totals) {
    Line* const line = line_of(name, started, sink);
    if (line == nullptr || time <= line->last) continue;
    line->last = time;
    sink.sample(line->id, time, value);
  }
}

void AgentSeries::push_report(const AgentReport& report, const ClockOffset& clock,
                              SampleSink& sink) {
  const auto before = reported_.find(report.name);
  if (before != reported_.end() && report.time <= before->second) return;
  reported_[report.name] = report.time;
  const bool first = !reports_.contains(report.name);
  Line& line = reports_[report.name];
  if (first) {
    SeriesInfo info;
    info.name = report.name;
    info.unit = report.unit;
    info.kind = Kind::event;
    if (report.kind == "counter") info.labels = {{"kind", "counter"}};
    info.source = "reported to the " + who_;
    line.id = sink.declare(info);
  }
  const Timestamp time = std::max(clock.ours(report.time), line.last);
  line.last = time;
  if (report.kind == "timer") {
    push_durations(report, time, line, sink);
  } else if (report.value) {
    sink.sample(line.id, time, *report.value);
  }
}

void AgentSeries::push_durations(const AgentReport& report, Timestamp time, Line& line,
                                 SampleSink& sink) {
  auto& known = durations_[report.name];
  if (is_new(report.durations, known)) known.clear();
  uint64_t kept = 0;
  uint64_t lost = 0;
  for (const auto& [value, count] : report.durations) {
    const auto before = known.find(value);
    const uint64_t more = before == known.end() ? count : count - before->second;
    const uint64_t taken = std::min(more, kMostDurations - kept);
    for (uint64_t i = 0; i < taken; ++i) sink.sample(line.id, time, value);
    kept += taken;
    lost += std::min(more - taken, std::numeric_limits<uint64_t>::max() - lost);
  }
  known = report.durations;
  if (lost > 0) sink.lost({who_, "more durations between two answers than are kept", lost});
}

}  // namespace assay::launch
