// SPDX-License-Identifier: Apache-2.0
#include "advice.h"
#include "goals.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include <assay/base/text.h>
#include <assay/samples/metric.h>

namespace assay::analysis {
namespace {

bool reported_at_all(const Facts& f, const std::string& name) {
  return std::any_of(f.recorded.begin(), f.recorded.end(), [&](const Series& s) {
    return s.info.kind == Kind::event && s.info.name == name && !s.values.empty();
  });
}

std::string names_reported(const Facts& f) {
  std::vector<std::string> names;
  for (const auto& [name, line] : f.analysis.metrics) names.push_back(name);
  if (names.empty()) return "The app reported nothing about itself.";
  return fmt::format("The app reported only: {}.", fmt::join(names, ", "));
}

/// "memory_byte": a line of the footprint that was meant, perhaps.
std::string meant(const Facts& f, const std::vector<std::string>& missing) {
  std::vector<std::string_view> known;
  for (const auto& [name, line] : f.analysis.footprint) known.emplace_back(name);
  for (const auto& [name, line] : f.analysis.metrics) known.emplace_back(name);
  for (const auto& name : missing) {
    if (const auto near = nearest(name, known)) {
      return fmt::format("Did you mean {} instead of {}? If not: ", *near, name);
    }
  }
  return "";
}

std::optional<Advice> goal_in_wrong_unit(const Facts& f) {
  for (const auto& g : f.analysis.goals) {
    if (!in_another_unit(g.goal, f.analysis)) continue;
    return Advice{fmt::format("A goal cannot be judged: {} is not measured in the unit of \"{}\".",
                              g.goal.metric, g.goal.text),
                  fmt::format("It is {} in {}; the goal's bound was read as {}.",
                              format_value(*g.value, g.unit), g.unit, bound_as_read(g.goal)),
                  "Write the goal's bound as a plain number, without a unit."};
  }
  return std::nullopt;
}

std::optional<Advice> goal_not_measured(const Facts& f) {
  for (const auto& g : f.analysis.goals) {
    const std::string name(full_metric_name(g.goal.metric));
    if (g.value || find_metric(name) == nullptr) continue;
    return Advice{fmt::format("A goal cannot be judged: {} could not be measured here.", name),
                  "What was not measured, and why, is in the report.",
                  "See `assay doctor` for what would enable it, or profile on another machine."};
  }
  return std::nullopt;
}

std::optional<Advice> goal_never_reported(const Facts& f) {
  std::vector<std::string> missing;
  for (const auto& g : f.analysis.goals) {
    const bool ours = find_metric(full_metric_name(g.goal.metric)) != nullptr;
    if (!g.value && !ours && !reported_at_all(f, g.goal.metric)) missing.push_back(g.goal.metric);
  }
  if (missing.empty()) return std::nullopt;
  const std::string finding =
      missing.size() == 1
          ? fmt::format("A goal cannot be judged: {} was never reported.", missing.front())
          : fmt::format("Goals cannot be judged: {} were never reported.",
                        fmt::join(missing, ", "));
  if (f.run.isolation == "attached") {
    return Advice{finding, "An app that runs already does not know where to report.",
                  "Let `assay run` start it, or name a line of the footprint as the goal."};
  }
  return Advice{
      finding, names_reported(f),
      fmt::format("{}Let the app report it: in Python `from assay import LiveMetrics`, then "
                  "LiveMetrics().push('{}', value); or name a line of the footprint as the "
                  "goal.",
                  meant(f, missing), missing.front())};
}

std::optional<Advice> goal_reported_too_early(const Facts& f) {
  for (const auto& g : f.analysis.goals) {
    if (g.value || !reported_at_all(f, g.goal.metric)) continue;
    return Advice{fmt::format("A goal cannot be judged: {} was only reported during the warm-up.",
                              g.goal.metric),
                  fmt::format("The warm-up takes {}.", format_duration(f.run.target.warmup)),
                  "Shorten the warm-up or run longer."};
  }
  return std::nullopt;
}

std::optional<Advice> warmup_too_long(const Facts& f) {
  if (!f.window.warmup_ignored) return std::nullopt;
  return Advice{
      "The warm-up lasts longer than the run, so all of the run was counted.",
      fmt::format("The warm-up is {}, the run took {}.", format_duration(f.run.target.warmup),
                  format_duration(f.window.length())),
      "Shorten the warm-up or run longer."};
}

/// What was lost of the app's own reports, or else of our measurements; late beats have their own
/// rule.
std::vector<std::string> losses(const Facts& f, bool hooks) {
  std::vector<std::string> lines;
  for (const auto& loss : f.run.losses) {
    const bool from_hooks = loss.source == "hooks";
    if (loss.count == 0 || from_hooks != hooks || loss.source == "sampler") continue;
    lines.push_back(fmt::format("{} × {}", loss.count, loss.reason));
  }
  return lines;
}

std::optional<Advice> reports_lost(const Facts& f) {
  const auto lines = losses(f, true);
  if (lines.empty()) return std::nullopt;
  return Advice{
      "Some of what the app reported about itself was lost or not as it should be.",
      fmt::format("{}.", fmt::join(lines, "; ")),
      "Report plain numbers under names that are not Assay's own, one object per message with a "
      "blank line behind it, and less often if it is too much; means may be off."};
}

std::optional<Advice> samples_lost(const Facts& f) {
  const auto lines = losses(f, false);
  if (lines.empty()) return std::nullopt;
  return Advice{"Some measurements were lost.", fmt::format("{}.", fmt::join(lines, "; ")),
                "Check that the disk of the history has room and keeps up, then profile again."};
}

std::optional<Advice> beats_late(const Facts& f) {
  if (!f.run.sampling) return std::nullopt;
  const Sampling& s = *f.run.sampling;
  const uint64_t due = std::max(s.beats, s.late_beats);
  if (s.beats < 10 || s.late_beats * 10 <= due) return std::nullopt;
  return Advice{
      "Samples were often taken late, so short peaks may be missing.",
      fmt::format("{} of {} came late, the worst by {}; the interval was {} instead of {}.",
                  s.late_beats, due, format_duration(s.worst_lateness),
                  format_duration(s.achieved_interval), format_duration(s.interval)),
      "The machine was too busy to be watched this closely: take a longer interval, or leave "
      "a core free. Means and totals are still right."};
}

std::optional<Advice> too_short(const Facts& f) {
  const auto* cores = f.app("cpu_cores");
  const bool starting_shows = cores != nullptr && cores->p95 > 1.5 * cores->mean;
  if (f.long_enough() || f.window.warmup_cut || !starting_shows) return std::nullopt;
  return Advice{"The run was short: much of what was measured is the app's start.",
                fmt::format("It took {}; its cores were {} on average and {} in its p95.",
                            format_duration(f.window.length()), format_number(cores->mean),
                            format_number(cores->p95)),
                "Run it for longer, and leave the start out with a warm-up."};
}

/// What others have read before is in the cache already and charged to nobody else: the same app
/// may need less the second time.
std::optional<Advice> counts_files(const Facts& f) {
  const auto* memory = f.app("memory_bytes");
  const auto* cache = f.app("memory_cache_bytes");
  const auto* resident = f.app("memory_rss_bytes");
  if (memory == nullptr || cache == nullptr || resident == nullptr) return std::nullopt;
  const double files = std::min(cache->peak, memory->peak);
  if (files < 0.25 * memory->peak || files < 20e6) return std::nullopt;
  return Advice{
      "A good part of the memory is files that the app was the first to read.",
      fmt::format("Up to {} of the {} are in the file cache; files that are cached already are not "
                  "counted. Its resident memory, which has every file it maps, was {}.",
                  format_bytes(files), format_bytes(memory->peak), format_bytes(resident->peak)),
      "Run it a second time: the difference is what the kernel can do without."};
}

constexpr std::array<Rule, 10> kRules = {
    goal_not_measured,       too_short,       counts_files, goal_never_reported, goal_in_wrong_unit,
    goal_reported_too_early, warmup_too_long, reports_lost, samples_lost,        beats_late};

}  // namespace

std::span<const Rule> measurement_rules() {
  return kRules;
}

}  // namespace assay::analysis
