// SPDX-License-Identifier: Apache-2.0
#include "other_load.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include <assay/base/text.h>

namespace assay::analysis {
namespace {

using enum MetricId;
using Intervals = std::vector<Interval>;

/// Every system has its little chores: a quarter of a core takes nothing from an app that anybody
/// would notice.
constexpr double kHarmlessCores = 0.25;
/// On a large machine up to a tenth of it: caches, memory and clocks are shared, but the app still
/// finds a free core at any moment.
constexpr double kHarmlessShare = 0.1;
/// The node's CPU time is counted in ticks of 10 ms on each core. Over a second that is a
/// hundredth; over a beat of 100 ms it would be noise.
constexpr Nanoseconds kSlot = std::chrono::seconds(1);

constexpr std::array kMetrics = {cpu_usage_seconds_total, disk_read_bytes_total,
                                 disk_write_bytes_total};

template <class Wanted>
Intervals rates_of(const std::vector<Series>& recorded, const Wanted& wanted) {
  std::vector<Intervals> parts;
  for (const auto& s : recorded) {
    if (s.info.kind == Kind::counter && wanted(s.info)) parts.push_back(rate_intervals(s));
  }
  return combine(parts, Combine::sum);
}

/// The mean over what is known of the slot; nothing when nothing is.
std::optional<double> mean_between(const Intervals& rates, Timestamp from, Timestamp to) {
  double sum = 0;
  double time = 0;
  auto rate = std::upper_bound(rates.begin(), rates.end(), from,
                               [](Timestamp at, const Interval& r) { return at < r.end; });
  for (; rate != rates.end() && rate->begin < to; ++rate) {
    const double inside = seconds(std::min(rate->end, to) - std::max(rate->begin, from));
    sum += rate->value * inside;
    time += inside;
  }
  return time > 0 ? std::optional(sum / time) : std::nullopt;
}

struct Sides {
  Intervals node;
  Intervals ours;
  Intervals assay;    ///< empty where Assay's part is not measured
  double unseen = 0;  ///< of ours, that no sample saw
  double engine = 0;  ///< of the container engine, that serves the app among others
};

/// Slots of a second or a little more, so that no odd rest is left.
Distribution difference(const Sides& sides, const Window& window) {
  const int64_t count = std::max<int64_t>(1, window.length() / kSlot);
  const Nanoseconds length = window.length() / count;
  Intervals others;
  for (Timestamp from = window.from; from + length <= window.to; from += length) {
    const Timestamp to = from + length;
    const auto node = mean_between(sides.node, from, to);
    const auto ours = mean_between(sides.ours, from, to);
    if (!node || !ours) continue;
    const double assay = mean_between(sides.assay, from, to).value_or(0);
    others.push_back({from, to, *node - *ours - assay - sides.unseen - sides.engine});
  }
  return distribution_of(others, window.from, window.to);
}

/// The two sides are not read at the same instant, so that a quiet node may come out below zero. It
/// is cut off only here: cut in each slot it would raise the mean.
void not_below_zero(Distribution& d) {
  for (double* value : {&d.mean, &d.p50, &d.p95, &d.p99, &d.peak, &d.min}) {
    *value = std::max(*value, 0.0);
  }
}

double unseen_cores(const Lines& footprint, const Intervals& app, const Window& window) {
  const Distribution* line = find(footprint, "cpu_cores");
  if (line == nullptr) return 0;
  return std::max(0.0, line->mean - distribution_of(app, window.from, window.to).mean);
}

/// The engine of the app's own container is no other: it copies what the app prints.
double engine_cores(const RunRecord& run) {
  if (run.runtime != "docker") return 0;
  for (const auto& other : run.others) {
    if (other.name == "container engine") return other.cpu_cores;
  }
  return 0;
}

Sides sides_of(const std::vector<Series>& recorded, std::string_view name) {
  const auto of = [&](auto scope) {
    return rates_of(recorded,
                    [&](const SeriesInfo& i) { return i.name == name && scope(i.scope); });
  };
  Sides sides;
  sides.node = of([](Scope s) { return s == Scope::node; });
  sides.ours = of([](Scope s) { return s != Scope::node; });
  return sides;
}

std::string source_of(const std::vector<Series>& recorded, std::string_view name) {
  for (const auto& s : recorded) {
    if (s.info.name != name || s.info.scope != Scope::node) continue;
    const bool alone = std::none_of(recorded.begin(), recorded.end(), [](const Series& other) {
      return other.info.scope == Scope::need;
    });
    return s.info.source + (alone ? ", less the app" : ", less the app and what it needs");
  }
  return "";
}

}  // namespace

Lines others_of(const RunRecord& run, const std::vector<Series>& recorded, const Lines& footprint,
                const Window& window) {
  Lines lines;
  if (window.length() < kSlot) return lines;
  for (const MetricId id : kMetrics) {
    const Metric& m = metric(id);
    Sides sides = sides_of(recorded, m.name);
    if (id == cpu_usage_seconds_total) {
      sides.assay = rates_of(recorded, [](const SeriesInfo& i) {
        return i.name == metric(profiler_cpu_seconds_total).name;
      });
      const auto app = rates_of(
          recorded, [&](const SeriesInfo& i) { return i.name == m.name && i.scope == Scope::app; });
      sides.unseen = unseen_cores(footprint, app, window);
      sides.engine = engine_cores(run);
    }
    Distribution d = difference(sides, window);
    if (d.count == 0) continue;
    not_below_zero(d);
    d.unit = m.rate_unit;
    d.source = source_of(recorded, m.name) + (sides.assay.empty() ? "" : " and Assay") +
               (sides.engine > 0 ? " and the container engine" : "");
    lines.emplace_back(m.rate_name, std::move(d));
  }
  return lines;
}

std::optional<bool> is_disturbed(const Lines& others, const Device& device) {
  const Distribution* cores = find(others, "cpu_cores");
  if (cores == nullptr) return std::nullopt;
  return cores->mean > std::max(kHarmlessCores, kHarmlessShare * device.cores);
}

std::string disturbance_of(const Lines& others, const Device& device) {
  if (!is_disturbed(others, device).value_or(false)) return "";
  const std::string used = format_number(find(others, "cpu_cores")->mean);
  const std::string of = device.cores > 0 ? fmt::format("{} of {}", used, device.cores) : used;
  return fmt::format(
      "others used {} cores during the run: the numbers may be worse than on a quiet machine", of);
}

}  // namespace assay::analysis
