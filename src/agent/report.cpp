// SPDX-License-Identifier: Apache-2.0
#include "report.h"

#include <assay/promapi/labels.h>

namespace assay::agent {
namespace {

constexpr int64_t kStepNs = 10'000'000'000;
constexpr auto kMinute = std::chrono::minutes(1);

int64_t step_of(Timestamp time) {
  return unix_ns(time) / kStepNs;
}

bool ends_with_unit(std::string_view name, std::string_view unit) {
  return name.ends_with(unit) &&
         (name.size() == unit.size() || name[name.size() - unit.size() - 1] == '_');
}

}  // namespace

void RecentDurations::add(Timestamp time, const hooks::Histogram& added) {
  const int64_t number = step_of(time);
  Step& step = steps_[static_cast<size_t>(number % kSteps)];
  if (step.number != number) {
    step.number = number;
    step.durations.clear();
  }
  step.durations.merge(added);
}

hooks::Histogram RecentDurations::recent(Timestamp now) const {
  hooks::Histogram all;
  const int64_t last = step_of(now);
  for (const auto& step : steps_)
    if (step.number > last - kSteps && step.number <= last) all.merge(step.durations);
  return all;
}

std::optional<double> RecentDurations::quantile(double q, Timestamp now) const {
  const auto all = recent(now);
  return all.count() == 0 ? std::nullopt : std::optional(all.quantile(q));
}

std::optional<double> RecentDurations::mean(Timestamp now) const {
  const auto all = recent(now);
  if (all.count() == 0) return std::nullopt;
  return all.sum() / static_cast<double>(all.count());
}

std::string family_of(const hooks::ReportInfo& info) {
  std::string name = "assay_app_" + info.name;
  if (info.kind == hooks::ReportKind::timer && !ends_with_unit(info.name, "seconds"))
    name += "_seconds";
  if (info.unit == "bytes" && !ends_with_unit(info.name, "bytes")) name += "_bytes";
  if (info.kind == hooks::ReportKind::counter && !ends_with_unit(info.name, "total"))
    name += "_total";
  return promapi::sanitized_name(name);
}

std::optional<double> statistic(const Report& report, std::string_view name, Timestamp now) {
  if (report.info.kind == hooks::ReportKind::timer) {
    if (name == "mean") return report.recent.mean(now);
    if (name == "p50") return report.recent.quantile(0.5, now);
    if (name == "p95") return report.recent.quantile(0.95, now);
    if (name == "p99") return report.recent.quantile(0.99, now);
    return name == "peak" ? report.recent.quantile(1, now) : std::nullopt;
  }
  const auto summary = report.window.over(kMinute, now);
  if (!summary) return std::nullopt;
  if (name == "mean") return summary->mean;
  if (name == "p95") return summary->p95;
  return name == "peak" ? std::optional(summary->max) : std::nullopt;
}

}  // namespace assay::agent
