// SPDX-License-Identifier: Apache-2.0
#include "report.h"

#include <array>

#include <assay/promapi/labels.h>

namespace assay::agent {
namespace {

constexpr int64_t kStepNs = 10'000'000'000;
constexpr int64_t kLast = 2;  ///< steps that the latest durations are of
constexpr Nanoseconds kMinute = std::chrono::minutes(1);

int64_t step_of(Timestamp time) {
  return unix_ns(time) / kStepNs;
}

bool ends_with_unit(std::string_view name, std::string_view unit) {
  return name.ends_with(unit) &&
         (name.size() == unit.size() || name[name.size() - unit.size() - 1] == '_');
}

/// Of "p95" 0.95, of "peak" 1; nothing for the mean.
std::optional<double> quantile_named(std::string_view name) {
  if (name == "min") return 0;
  if (name == "p50") return 0.5;
  if (name == "p95") return 0.95;
  if (name == "p99") return 0.99;
  return name == "peak" ? std::optional(1.0) : std::nullopt;
}

std::optional<double> of_durations(const RecentDurations& durations, std::string_view name,
                                   Timestamp now, int64_t steps) {
  if (name == "mean") return durations.mean(now, steps);
  const auto q = quantile_named(name);
  return q ? durations.quantile(*q, now, steps) : std::nullopt;
}

std::optional<double> of_window(const Window& window, std::string_view name, Timestamp now,
                                Nanoseconds length) {
  if (name == "mean") {
    const auto summary = window.over(length, now);
    return summary ? std::optional(summary->mean) : std::nullopt;
  }
  const auto q = quantile_named(name);
  return q ? window.quantile(*q, length, now) : std::nullopt;
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

/// Put together in one place for all, whose memory is kept.
const hooks::Histogram& RecentDurations::recent(Timestamp now, int64_t steps) const {
  static thread_local hooks::Histogram all;
  all.clear();
  const int64_t last = step_of(now);
  for (const auto& step : steps_)
    if (step.number > last - steps && step.number <= last) all.merge(step.durations);
  return all;
}

std::optional<double> RecentDurations::quantile(double q, Timestamp now, int64_t steps) const {
  const auto& all = recent(now, steps);
  return all.count() == 0 ? std::nullopt : std::optional(all.quantile(q));
}

std::optional<double> RecentDurations::mean(Timestamp now, int64_t steps) const {
  const auto& all = recent(now, steps);
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
  if (report.info.kind == hooks::ReportKind::timer)
    return of_durations(report.recent, name, now, RecentDurations::kSteps);
  return of_window(report.window, name, now, kMinute);
}

Nanoseconds latest_length(const Window& window, Timestamp now) {
  constexpr size_t kEnough = 3;
  constexpr std::array<Nanoseconds, 3> kLengths = {std::chrono::seconds(5),
                                                   std::chrono::seconds(15), kMinute};
  for (const Nanoseconds length : kLengths)
    if (window.count(length, now) >= kEnough) return length;
  return std::chrono::minutes(5);
}

Nanoseconds latest_length(const Report& report, Timestamp now) {
  if (report.info.kind == hooks::ReportKind::timer) return Nanoseconds(kLast * kStepNs);
  return latest_length(report.window, now);
}

std::optional<double> latest_statistic(const Window& window, std::string_view name, Timestamp now) {
  return of_window(window, name, now, latest_length(window, now));
}

std::optional<double> latest_statistic(const Report& report, std::string_view name, Timestamp now) {
  if (report.info.kind == hooks::ReportKind::counter) return report.value;
  if (report.info.kind != hooks::ReportKind::timer)
    return latest_statistic(report.window, name, now);
  const auto latest = of_durations(report.recent, name, now, kLast);
  return latest ? latest : of_durations(report.recent, name, now, RecentDurations::kSteps);
}

}  // namespace assay::agent
