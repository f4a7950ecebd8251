// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <assay/analysis/run_analysis.h>
#include <assay/samples/records.h>
#include <assay/samples/series.h>

namespace assay::analysis {

inline Timestamp at(double second) {
  return from_unix_ns(1'700'000'000'000'000'000) + from_seconds(second);
}

/// Second and value.
using Points = std::vector<std::pair<double, double>>;

inline Series make_series(const SeriesInfo& info, const Points& points) {
  Series series{info, {}, {}};
  for (const auto& [second, value] : points) {
    series.times.push_back(at(second));
    series.values.push_back(value);
  }
  return series;
}

inline SeriesInfo event_info(const std::string& name,
                             const std::string& source = "reported by pid 7") {
  return {name, "", Kind::event, Scope::app, source, {}};
}

inline Goal make_goal(std::string metric, std::string statistic, Comparison comparison,
                      double bound, std::string text) {
  return {std::move(metric), std::move(statistic), comparison, bound, std::move(text)};
}

inline Goal fps_goal() {
  return make_goal("fps", "mean", Comparison::greater_equal, 10, "fps >= 10");
}

/// A run of a minute on a device with four cores, that a test changes at one place.
struct TestRun {
  RunRecord run;
  Device device;
  MemorySeries samples;

  TestRun() {
    run.started = at(0);
    run.ended = at(60);
    run.status = RunStatus::finished;
    run.sampling = Sampling{Milliseconds(100), Milliseconds(100), 600, 0, Milliseconds(2), 0.1};
    device.cores = 4;
    device.memory_bytes = 8'000'000'000;
  }

  void add(const SeriesInfo& info, const Points& points) {
    const SeriesId id = samples.declare(info);
    for (const auto& [second, value] : points) samples.sample(id, at(second), value);
  }
  /// Samples each second: the level itself, or for a counter what makes it the rate.
  void steady(MetricId id, double level, Scope scope = Scope::app) {
    const SeriesInfo info = describe(id, scope, "test");
    Points points;
    const auto last = static_cast<int>(seconds(run.duration()));
    for (int s = 0; s <= last; ++s) {
      points.emplace_back(s, info.kind == Kind::counter ? level * s : level);
    }
    add(info, points);
  }
  void event(const std::string& name, const Points& points) { add(event_info(name), points); }

  RunAnalysis analyze() const { return analyze_run(run, device, samples).value(); }
  bool advises(const std::string& part_of_finding) const {
    for (const auto& advice : analyze().advice) {
      if (advice.finding.find(part_of_finding) != std::string::npos) return true;
    }
    return false;
  }
};

/// Everything as it should be: no rule has a reason to fire.
inline TestRun healthy_run() {
  TestRun t;
  t.run.target.goals = {fps_goal()};
  t.run.board.governor = "ondemand";
  t.run.board.max_frequency_hertz = 1.8e9;
  t.steady(MetricId::cpu_usage_seconds_total, 1.5);
  t.steady(MetricId::cpu_throttled_seconds_total, 0);
  t.steady(MetricId::memory_bytes, 300e6);
  t.steady(MetricId::memory_swap_bytes, 0);
  t.steady(MetricId::major_page_faults_total, 0.5);
  t.steady(MetricId::pressure_io_waiting_seconds_total, 0.01);
  t.steady(MetricId::pressure_cpu_waiting_seconds_total, 0.02);
  t.steady(MetricId::cpu_usage_seconds_total, 1.8, Scope::node);
  t.steady(MetricId::cpu_frequency_hertz, 1.7e9, Scope::node);
  t.event("fps", {{1, 12.4}, {2, 12.4}});
  return t;
}

}  // namespace assay::analysis
