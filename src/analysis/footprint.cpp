// SPDX-License-Identifier: Apache-2.0
#include "footprint.h"

#include "power.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <limits>

namespace assay::analysis {
namespace {

constexpr std::string_view kAtExit = "kernel's totals at exit";
constexpr std::string_view kPower = "power_watts";

/// A high-water mark has no distribution of its own: it raises the peak of what it marks.
bool has_own_line(const Metric& m) {
  return m.name != "memory_peak_bytes" && m.name != kPower && m.rate_name != kPower &&
         !m.name.starts_with("profiler_");
}

Combine how_to_combine(std::string_view name) {
  if (name == "cpu_frequency_hertz" || name == "battery_charge_ratio") return Combine::mean;
  if (name == "temperature_celsius" || name.starts_with("pressure_")) return Combine::highest;
  return Combine::sum;
}

std::string joined_sources(const std::vector<const Series*>& parts) {
  std::vector<std::string> sources;
  for (const Series* part : parts) {
    if (std::find(sources.begin(), sources.end(), part->info.source) == sources.end()) {
      sources.push_back(part->info.source);
    }
  }
  if (sources.size() <= 3) return fmt::format("{}", fmt::join(sources, ", "));
  return fmt::format("{} and {} more", sources.front(), sources.size() - 1);
}

Distribution line_of(const Metric& metric, const std::vector<const Series*>& parts,
                     const Window& window) {
  std::vector<std::vector<Interval>> intervals;
  intervals.reserve(parts.size());
  for (const Series* part : parts) intervals.push_back(intervals_of(*part, window.to));
  Distribution d =
      distribution_of(combine(intervals, how_to_combine(metric.name)), window.from, window.to);
  d.unit = metric.kind == Kind::counter ? metric.rate_unit : metric.unit;
  d.source = joined_sources(parts);
  return d;
}

/// The name of the need that a series is about; empty for all others.
std::string_view need_of(const SeriesInfo& info) {
  if (info.scope != Scope::need) return "";
  for (const auto& [key, value] : info.labels) {
    if (key == "need") return value;
  }
  return "";
}

std::vector<const Series*> series_of(const std::vector<Series>& recorded, std::string_view name,
                                     Scope scope, std::string_view need = "") {
  std::vector<const Series*> found;
  for (const auto& s : recorded) {
    if (s.info.name == name && s.info.scope == scope && s.info.kind != Kind::event &&
        need_of(s.info) == need) {
      found.push_back(&s);
    }
  }
  return found;
}

Distribution* find_line(Lines& lines, std::string_view name) {
  for (auto& [key, value] : lines) {
    if (key == name) return &value;
  }
  return nullptr;
}

size_t rank_of(std::string_view name) {
  const auto all = catalog();
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].name == name || all[i].rate_name == name) return i;
  }
  return all.size();
}

void insert_line(Lines& lines, std::string name, Distribution d) {
  const auto place = std::find_if(lines.begin(), lines.end(), [&](const auto& line) {
    return rank_of(line.first) > rank_of(name);
  });
  lines.emplace(place, std::move(name), std::move(d));
}

void add_source(Distribution& d, std::string_view source) {
  if (d.source.find(source) == std::string::npos) d.source += fmt::format("; {}", source);
}

/// What the samples saw the counter behind a rate grow by.
double seen_growth(const std::vector<Series>& recorded, std::string_view rate) {
  double seen = 0;
  for (const auto& metric : catalog()) {
    if (metric.rate_name != rate) continue;
    for (const Series* part : series_of(recorded, metric.name, Scope::app)) {
      for (size_t i = 1; i < part->values.size(); ++i) {
        seen += std::max(0.0, part->values[i] - part->values[i - 1]);
      }
    }
  }
  return seen;
}

struct CpuTotal {
  std::optional<double> seconds;
  bool is_whole =
      false;  ///< the kernel told it once the app had ended; else somebody read it before
};

/// The total at exit gives the mean, whatever the samples missed of the start and the end; unless
/// it lacks what they saw: nobody waited for some of the app's children.
void apply_cpu_total(Lines& lines, const std::string& name, const CpuTotal& total,
                     const std::vector<Series>& recorded, const Window& window) {
  constexpr double kSameTime = 0.99;  // of two counts that the kernel makes in two ways
  const double length = seconds(window.length());
  if (!total.seconds || length <= 0) return;
  const double mean = *total.seconds / length;
  Distribution* line = find_line(lines, name);
  if (line == nullptr) {
    insert_line(lines, name, single_value(mean, "cores", std::string(kAtExit)));
    return;
  }
  const bool saw_too_much = total.is_whole && mean < kSameTime * line->mean &&
                            *total.seconds >= kSameTime * seen_growth(recorded, name);
  if (mean > line->mean || saw_too_much) {
    line->mean = mean;
    line->peak = std::max(line->peak, mean);
    line->min = std::min(line->min, mean);
    add_source(*line, kAtExit);
  }
}

/// `certain`: a level that memory is known to have reached within the window.
void raise_peak(Lines& lines, const std::string& name, double certain, std::string_view source) {
  Distribution* line = find_line(lines, name);
  if (line == nullptr) {
    insert_line(lines, name, single_value(certain, "bytes", std::string(source)));
  } else if (certain > line->peak) {
    line->peak = certain;
    add_source(*line, source);
  }
}

/// The kernel's high-water mark, if it was set within the window. What already ran when we came has
/// a mark from before.
std::optional<double> mark_within(const std::vector<const Series*>& marks, const Window& window,
                                  bool attached) {
  if (marks.empty() || marks.front()->values.empty()) return std::nullopt;
  const Series& mark = *marks.front();
  const double highest = *std::max_element(mark.values.begin(), mark.values.end());
  if (!window.warmup_cut && !attached) return highest;
  double before = attached ? mark.values.front() : 0;
  for (size_t i = 0; i < mark.times.size() && mark.times[i] <= window.from; ++i) {
    before = std::max(before, mark.values[i]);
  }
  return highest > before ? std::optional<double>(highest) : std::nullopt;
}

/// A control group's mark includes file cache, which is no need: the most cache that was seen is
/// taken off, and what is left was certainly reached.
void apply_high_water_mark(Lines& lines, const RunRecord& run, const std::vector<Series>& recorded,
                           const Window& window) {
  const auto marks = series_of(recorded, "memory_peak_bytes", Scope::app);
  const auto mark = mark_within(marks, window, run.isolation == "attached");
  if (!mark) return;
  const std::string& source = marks.front()->info.source;
  double cache = 0;
  if (source.find("cgroup") != std::string::npos) {
    const Distribution* seen = find_line(lines, "memory_cache_bytes");
    cache = seen != nullptr ? seen->peak : std::numeric_limits<double>::infinity();
  }
  if (*mark > cache) raise_peak(lines, "memory_bytes", *mark - cache, source);
}

/// What a group is charged with is less than what its processes map: a library that another program
/// has in memory already costs it nothing.
bool measured_by_group(Lines& lines, std::string_view name) {
  const Distribution* line = find_line(lines, name);
  return line != nullptr && line->source.find("cgroup") != std::string::npos;
}

void apply_exit(Lines& lines, const RunRecord& run, const std::vector<Series>& recorded,
                const Window& window) {
  if (window.warmup_cut) return;
  const Exit& exit = run.exit;
  const bool whole = run.runtime == "process";
  std::optional<double> both;
  if (exit.user_seconds && exit.system_seconds) both = *exit.user_seconds + *exit.system_seconds;
  apply_cpu_total(lines, "cpu_cores", {both, whole}, recorded, window);
  apply_cpu_total(lines, "cpu_user_cores", {exit.user_seconds, whole}, recorded, window);
  apply_cpu_total(lines, "cpu_system_cores", {exit.system_seconds, whole}, recorded, window);
  if (!exit.max_rss_bytes) return;
  const auto largest = static_cast<double>(*exit.max_rss_bytes);
  if (!measured_by_group(lines, "memory_bytes")) {
    raise_peak(lines, "memory_bytes", largest, "largest process at exit");
  }
  raise_peak(lines, "memory_rss_bytes", largest, "largest process at exit");
}

}  // namespace

Window window_of(const RunRecord& run, const std::vector<Series>& recorded) {
  Window window{run.started, run.ended};
  if (run.ended <= run.started) {
    window.to = run.started;
    for (const auto& s : recorded) {
      if (!s.times.empty()) window.to = std::max(window.to, s.times.back());
    }
  }
  const Nanoseconds warmup = run.target.warmup;
  if (warmup <= Nanoseconds(0)) return window;
  window.warmup_cut = warmup < window.length();
  window.warmup_ignored = !window.warmup_cut;
  if (window.warmup_cut) window.from += warmup;
  return window;
}

Lines scope_lines(const std::vector<Series>& recorded, Scope scope, const Window& window,
                  std::string_view need) {
  Lines lines;
  for (const auto& metric : catalog()) {
    if (!has_own_line(metric)) continue;
    const auto parts = series_of(recorded, metric.name, scope, need);
    if (parts.empty()) continue;
    auto d = line_of(metric, parts, window);
    const auto name = metric.kind == Kind::counter ? metric.rate_name : metric.name;
    if (d.count > 0) lines.emplace_back(name, std::move(d));
  }
  if (scope != Scope::node) return lines;
  if (auto power = power_of(recorded, window.from, window.to)) {
    insert_line(lines, std::string(kPower), std::move(*power));
  }
  return lines;
}

std::vector<std::pair<std::string, Lines>> needs_of(const std::vector<Series>& recorded,
                                                    const Window& window) {
  std::vector<std::pair<std::string, Lines>> needs;
  for (const auto& s : recorded) {
    const std::string name(need_of(s.info));
    const bool known =
        std::any_of(needs.begin(), needs.end(), [&](const auto& n) { return n.first == name; });
    if (name.empty() || known) continue;
    needs.emplace_back(name, scope_lines(recorded, Scope::need, window, name));
  }
  return needs;
}

namespace {

/// Starting a container takes some CPU time of its own, which its group counts.
void drop_cores_of_short_container(Lines& lines, const RunRecord& run, const Window& window) {
  constexpr auto kTooShort = Milliseconds(250);
  if (run.runtime != "docker" || run.isolation == "attached" || window.length() >= kTooShort)
    return;
  std::erase_if(lines, [](const auto& line) { return line.second.unit == "cores"; });
}

}  // namespace

Lines footprint_of(const RunRecord& run, const std::vector<Series>& recorded,
                   const Window& window) {
  Lines lines = scope_lines(recorded, Scope::app, window);
  apply_high_water_mark(lines, run, recorded, window);
  apply_exit(lines, run, recorded, window);
  if (auto power = power_of(recorded, window.from, window.to)) {
    insert_line(lines, std::string(kPower), std::move(*power));
  }
  drop_cores_of_short_container(lines, run, window);
  return lines;
}

}  // namespace assay::analysis
