// SPDX-License-Identifier: Apache-2.0
#include "goals.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>
#include <string_view>

#include <assay/base/text.h>

namespace assay::analysis {
namespace {

bool is_duration(const std::string& name) {
  return name == "duration" || name == "duration_seconds";
}

const Distribution* look_up(const std::string& name, const RunAnalysis& analysis) {
  if (const auto* d = find(analysis.metrics, name)) return d;
  if (const auto* d = find(analysis.footprint, name)) return d;
  return find(analysis.footprint, std::string(full_metric_name(name)));
}

/// "seconds" or "bytes" by what stands behind the number of "latency.p95 <= 200ms".
std::string written_unit(const Goal& goal) {
  const std::string_view text = trim(goal.text);
  const size_t number_end = text.find_last_of("0123456789.");
  if (number_end == std::string_view::npos) return "";
  const std::string unit(trim(text.substr(number_end + 1)));
  if (unit.empty()) return "";
  if (parse_duration("1" + unit)) return "seconds";
  if (parse_bytes("1" + unit)) return "bytes";
  return "";
}

bool holds(double value, Comparison comparison, double bound) {
  switch (comparison) {
    case Comparison::less:
      return value < bound;
    case Comparison::less_equal:
      return value <= bound;
    case Comparison::greater:
      return value > bound;
    case Comparison::greater_equal:
      return value >= bound;
  }
  return false;
}

struct Reported {
  std::vector<double> values;
  std::optional<double> total;  ///< of a counter: what was added to it
  std::set<std::string> sources;
  std::string unit;
};

bool is_total(const SeriesInfo& info) {
  return std::find(info.labels.begin(), info.labels.end(),
                   std::pair<std::string, std::string>("kind", "counter")) != info.labels.end();
}

void take_total(const Series& totals, Timestamp from, Reported& into) {
  double before = 0;
  double added = 0;
  for (size_t i = 0; i < std::min(totals.times.size(), totals.values.size()); ++i) {
    const double step = totals.values[i] - before;
    before = totals.values[i];
    // A total that falls belongs to a process that began anew.
    if (totals.times[i] >= from) added += step >= 0 ? step : totals.values[i];
  }
  into.total = into.total.value_or(0) + added;
}

void take(const Series& events, Timestamp from, Reported& into) {
  const size_t size = std::min(events.times.size(), events.values.size());
  for (size_t i = 0; i < size; ++i) {
    if (events.times[i] >= from) into.values.push_back(events.values[i]);
  }
  if (is_total(events.info)) take_total(events, from, into);
  into.sources.insert(events.info.source);
  if (into.unit.empty()) into.unit = events.info.unit;
}

std::string source_of(const Reported& reported) {
  if (reported.sources.size() == 1) return *reported.sources.begin();
  return fmt::format("reported by {} processes", reported.sources.size());
}

}  // namespace

Lines self_reported(const std::vector<Series>& recorded, const Window& window,
                    const std::vector<Goal>& goals) {
  std::map<std::string, Reported> by_name;
  for (const auto& s : recorded) {
    if (s.info.kind == Kind::event) take(s, window.from, by_name[s.info.name]);
  }
  Lines lines;
  for (const auto& [name, reported] : by_name) {
    Distribution d = distribution_of(reported.values);
    if (d.count == 0) continue;
    if (reported.total) d = single_value(*reported.total, "", "");
    d.unit = reported.total && reported.unit.empty() ? "in all" : reported.unit;
    d.source = source_of(reported);
    for (const auto& goal : goals) {
      if (d.unit.empty() && goal.metric == name) d.unit = written_unit(goal);
    }
    lines.emplace_back(name, std::move(d));
  }
  return lines;
}

std::vector<GoalResult> check_goals(const std::vector<Goal>& goals, const RunAnalysis& analysis,
                                    Nanoseconds duration) {
  std::vector<GoalResult> results;
  for (const auto& goal : goals) {
    GoalResult result{goal, std::nullopt, false, unit_of(goal, analysis)};
    if (const auto* d = look_up(goal.metric, analysis)) {
      result.value = statistic(*d, goal.statistic);
    } else if (is_duration(goal.metric)) {
      result.value = seconds(duration);
    }
    result.met = result.value && !in_another_unit(goal, analysis) &&
                 holds(*result.value, goal.comparison, goal.bound);
    results.push_back(std::move(result));
  }
  return results;
}

std::string unit_of(const Goal& goal, const RunAnalysis& analysis) {
  const auto* d = look_up(goal.metric, analysis);
  if (d != nullptr && !d->unit.empty()) return d->unit;
  return is_duration(goal.metric) ? "seconds" : written_unit(goal);
}

bool in_another_unit(const Goal& goal, const RunAnalysis& analysis) {
  const std::string written = written_unit(goal);
  const auto* d = look_up(goal.metric, analysis);
  return d != nullptr && !d->unit.empty() && !written.empty() && d->unit != written;
}

std::string bound_as_read(const Goal& goal) {
  return format_value(goal.bound, written_unit(goal));
}

std::string name_of(const Goal& goal) {
  return goal.statistic == "mean" ? goal.metric : goal.metric + "." + goal.statistic;
}

}  // namespace assay::analysis
