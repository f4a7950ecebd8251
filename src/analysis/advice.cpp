// SPDX-License-Identifier: Apache-2.0
#include "advice.h"

#include "memory_growth.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include <assay/base/text.h>

namespace assay::analysis {
namespace {

std::string bytes(double value) {
  return format_bytes(value);
}
std::string percent(double ratio) {
  return format_value(ratio, "ratio");
}

bool out_of_memory(const Facts& f) {
  return f.run.status == RunStatus::oom || f.run.exit.oom_killed;
}

/// Whether its own limit, and not the rest of the machine, keeps it from more.
bool uses_its_limit(const Facts& f) {
  const auto* cores = f.app("cpu_cores");
  const auto& limit = f.run.target.limits.cpus;
  return cores != nullptr && limit && cores->mean >= 0.9 * *limit;
}

bool throttled(const Facts& f) {
  const auto* held_back = f.app("cpu_throttled_ratio");
  if (held_back == nullptr) return false;
  return held_back->mean > 0.05 || (held_back->mean > 0 && uses_its_limit(f));
}

std::optional<Advice> ran_out_of_memory(const Facts& f) {
  if (!out_of_memory(f)) return std::nullopt;
  const auto* memory = f.app("memory_bytes");
  const std::string seen =
      memory != nullptr ? fmt::format("It had reached {}", bytes(memory->peak)) : "It was killed";
  if (const auto& limit = f.run.target.limits.memory_bytes) {
    return Advice{"The app ran out of memory.",
                  fmt::format("{} of the {} it may use.", seen, bytes(static_cast<double>(*limit))),
                  "Raise the memory limit (resources: memory), or make the app hold less at once: "
                  "smaller batches, smaller images, fewer workers."};
  }
  return Advice{
      "The app ran out of memory.",
      fmt::format("{} on a device with {}.", seen,
                  bytes(static_cast<double>(f.device.memory_bytes))),
      "Run it on a device with more memory, end what runs beside it, or make it hold less "
      "at once: smaller batches, smaller images, fewer workers."};
}

std::optional<Advice> too_few_processes(const Facts& f) {
  const uint64_t refused = f.run.exit.forks_refused;
  const auto& limit = f.run.target.limits.pids;
  if (refused == 0) return std::nullopt;
  return Advice{"The app could not start all the processes and threads that it wanted.",
                fmt::format("Its limit of {} was reached {}.",
                            limit ? fmt::format("{} processes", *limit) : "processes",
                            refused == 1 ? "once" : fmt::format("{} times", refused)),
                "Raise the limit (--pids, resources: pids), or let it work with fewer workers."};
}

std::optional<Advice> cpu_limit_too_low(const Facts& f) {
  if (!throttled(f)) return std::nullopt;
  const auto& cpus = f.run.target.limits.cpus;
  const auto* cores = f.app("cpu_cores");
  const std::string used =
      cores != nullptr ? fmt::format(" It used {} cores on average", format_number(cores->mean))
                       : "";
  const std::string limit = cpus ? fmt::format(" of the {} allowed", format_number(*cpus)) : "";
  return Advice{
      "A CPU limit slows the app down.",
      fmt::format("It was held back for {} in every second, added up over its cores.{}{}.",
                  format_value(f.app("cpu_throttled_ratio")->mean, "seconds"), used, limit),
      "Raise the CPU limit (resources: cpus) and compare; if the goals are met as it is, the "
      "limit can stay."};
}

std::optional<Advice> memory_near_limit(const Facts& f) {
  const auto& limit = f.run.target.limits.memory_bytes;
  const auto* memory = f.app("memory_bytes");
  if (out_of_memory(f) || !limit || memory == nullptr) return std::nullopt;
  const double share = memory->peak / static_cast<double>(*limit);
  if (share <= 0.9) return std::nullopt;
  return Advice{"The app comes close to its memory limit.",
                fmt::format("Its peak of {} is {} of the {} it may use.", bytes(memory->peak),
                            percent(share), bytes(static_cast<double>(*limit))),
                "Raise the limit by a fifth at least: a little more input and the app is killed."};
}

/// Leaves a fifth of the run for starting, unless a warm-up was cut already.
std::optional<Growth> memory_growth(const Facts& f) {
  const Timestamp from =
      f.window.warmup_cut ? f.window.from : f.window.from + f.window.length() / 5;
  for (const auto& s : f.recorded) {
    if (s.info.name == "memory_bytes" && s.info.scope == Scope::app) {
      return steady_growth(gauge_intervals(s, f.window.to), from, f.window.to);
    }
  }
  return std::nullopt;
}

std::optional<Advice> memory_grows(const Facts& f) {
  const auto growth = memory_growth(f);
  if (!growth) return std::nullopt;
  const auto& limit = f.run.target.limits.memory_bytes;
  const auto room = static_cast<double>(limit ? *limit : f.device.memory_bytes) - growth->last;
  std::string end;
  if (room > 0) {
    end = fmt::format(" At this pace {} is full in {}.", limit ? "its limit" : "the device",
                      format_value(room / growth->per_second, "seconds"));
  }
  return Advice{"Memory grows steadily: perhaps a leak.",
                fmt::format("From {} to {} within {}, about {} a minute.{}", bytes(growth->first),
                            bytes(growth->last), format_duration(growth->over),
                            bytes(growth->per_second * 60), end),
                "If the app should run for long, look for lists, caches or open streams that are "
                "never emptied, and run it longer to see whether the growth ends."};
}

std::optional<Advice> swap_used(const Facts& f) {
  const auto* swap = f.app("memory_swap_bytes");
  if (swap == nullptr || swap->peak < 1e6) return std::nullopt;
  return Advice{
      "Part of the app's memory was moved to swap, which is far slower.",
      fmt::format("Up to {} were in swap.", bytes(swap->peak)),
      "Give it more memory, or end what runs beside it; timings of this run are not typical."};
}

bool missed_a_goal(const Facts& f) {
  return std::any_of(f.analysis.goals.begin(), f.analysis.goals.end(),
                     [](const GoalResult& g) { return g.value && !g.met; });
}

std::optional<Advice> one_thread_only(const Facts& f) {
  const auto* cores = f.app("cpu_cores");
  const auto& cpus = f.run.target.limits.cpus;
  if (cores == nullptr || !missed_a_goal(f) || throttled(f)) return std::nullopt;
  const bool steady = cores->p50 >= 0.9 && cores->p50 <= 1.1 && cores->p95 <= 1.15;
  const bool more_to_use = f.device.cores >= 2 && (!cpus || *cpus >= 1.5);
  if (!steady || !more_to_use) return std::nullopt;
  return Advice{
      "The app keeps one core busy and leaves the others idle, while a goal is missed.",
      fmt::format(
          "It used {} cores half of the time and at most {} for 95 % of it; the device has {}.",
          format_number(cores->p50), format_number(cores->p95), f.device.cores),
      "Let it work in parallel: more threads or processes, a library that uses all cores, or "
      "the GPU. A device with more cores alone will not help."};
}

std::optional<Advice> waits_for_disk(const Facts& f) {
  if (!f.long_enough()) return std::nullopt;
  const auto* waiting = f.app("pressure_io_waiting_ratio");
  const auto* faults = f.app("major_page_faults_per_second");
  std::string evidence;
  if (waiting != nullptr && waiting->mean > 0.1) {
    evidence = fmt::format("Some of it waited for a disk {} of the time.", percent(waiting->mean));
  } else if (faults != nullptr && faults->mean > 50) {
    evidence = fmt::format("It read memory back from disk {} times a second.",
                           format_number(faults->mean));
  } else {
    return std::nullopt;
  }
  return Advice{
      "The app waits for the disk.", evidence,
      "Read less or ahead of time, put the data on a faster disk, or give the app more memory "
      "so that files stay cached."};
}

double taken_by_others(const Facts& f) {
  const auto* others = find(f.analysis.others, "cpu_cores");
  return others != nullptr ? others->mean : 0;
}

/// Most of the time: an app that waits while it starts and lacks nothing afterwards does not.
bool waits_for_cpu(const Facts& f) {
  if (const auto* waiting = f.app("cpu_waiting_cores")) {
    return waiting->mean >= std::max(0.1, 0.5 * f.app("cpu_cores")->mean) && waiting->p50 >= 0.05;
  }
  const auto* pressure = f.app("pressure_cpu_waiting_ratio");
  return pressure != nullptr && pressure->mean >= 0.2;
}

/// All cores are taken, a good part of them by others, and the app waits.
bool others_take_the_cpu(const Facts& f) {
  const auto* mine = f.app("cpu_cores");
  const auto* all = f.node("cpu_cores");
  const double cores = f.device.cores;
  if (mine == nullptr || all == nullptr || cores <= 0) return false;
  return all->mean > 0.9 * cores && taken_by_others(f) > std::max(0.5, 0.1 * cores) &&
         waits_for_cpu(f);
}

/// What it waited for, as far as its limit would have let it.
double could_have_used(const Facts& f, double waited) {
  const auto& limit = f.run.target.limits.cpus;
  if (!limit) return waited;
  return std::clamp(*limit - f.app("cpu_cores")->mean, 0.0, waited);
}

std::optional<Advice> busy_node(const Facts& f) {
  if (shortage_of(f) != Shortage::busy_node) return std::nullopt;
  const auto* waiting = f.app("cpu_waiting_cores");
  const std::string more = waiting != nullptr
                               ? fmt::format("; it could have used {} more",
                                             format_number(could_have_used(f, waiting->mean)))
                               : fmt::format("; it waited {} of the time",
                                             percent(f.app("pressure_cpu_waiting_ratio")->mean));
  return Advice{
      "Other programs on this node take CPU time that the app waits for.",
      fmt::format("Of {} cores the app used {} and others {}{}.", f.device.cores,
                  format_number(f.app("cpu_cores")->mean), format_number(taken_by_others(f)), more),
      "End what runs beside it and profile again, or take these numbers as those of a busy node."};
}

std::optional<Advice> board_held_back(const Facts& f) {
  // Mere counts since boot ("core_throttle_count 12") are common and tell nothing about this run.
  std::vector<std::string> reported;
  for (const auto& entry : f.run.board.throttling) {
    if (entry.ends_with(" now") || entry.ends_with(" since boot")) reported.push_back(entry);
  }
  if (reported.empty()) return std::nullopt;
  return Advice{
      "The board slows itself down to protect itself.",
      fmt::format("It reported: {}.", fmt::join(reported, ", ")),
      "Check the power supply and its cable, and the cooling; results are not those of a sound "
      "board until this is gone."};
}

/// Of the fastest core at each moment: the idle ones are slow with good reason.
std::optional<Distribution> fastest_frequency(const Facts& f) {
  std::vector<std::vector<Interval>> cores;
  for (const auto& s : f.recorded) {
    if (s.info.name == "cpu_frequency_hertz" && s.info.scope == Scope::node) {
      cores.push_back(gauge_intervals(s, f.window.to));
    }
  }
  const auto d = distribution_of(combine(cores, Combine::highest), f.window.from, f.window.to);
  return d.count > 0 ? std::optional(d) : std::nullopt;
}

std::optional<Advice> slow_governor(const Facts& f) {
  const auto* cores = f.app("cpu_cores");
  const auto& highest = f.run.board.max_frequency_hertz;
  const bool powersave = f.run.board.governor.find("powersave") != std::string::npos;
  if (!powersave || cores == nullptr || !highest || cores->p95 < 0.5) return std::nullopt;
  const auto frequency = fastest_frequency(f);
  // Some drivers call a mode powersave that speeds up under load all the same.
  if (!frequency || frequency->p95 >= 0.6 * *highest) return std::nullopt;
  return Advice{
      "The powersave governor keeps the CPU slow.",
      fmt::format("Its fastest core ran at {} though {} are allowed.",
                  format_value(frequency->p95, "hertz"), format_value(*highest, "hertz")),
      "Choose another governor (cpupower frequency-set -g performance) if speed matters more "
      "than power, and profile again."};
}

std::optional<Advice> idle(const Facts& f) {
  const auto* cores = f.app("cpu_cores");
  const bool content =
      !f.analysis.goals.empty() && std::all_of(f.analysis.goals.begin(), f.analysis.goals.end(),
                                               [](const GoalResult& g) { return g.met; });
  if (cores == nullptr || !f.long_enough() || content || cores->mean >= 0.02) return std::nullopt;
  return Advice{
      "The app was idle nearly all the time.",
      fmt::format("It used {} of one core.", percent(cores->mean)),
      "Check that it had input to work on (camera, dataset, network) and see its log; what it "
      "needs under load cannot be told from this run."};
}

constexpr std::array<Rule, 12> kRules = {ran_out_of_memory, too_few_processes, cpu_limit_too_low,
                                         memory_near_limit, memory_grows,      swap_used,
                                         one_thread_only,   waits_for_disk,    busy_node,
                                         board_held_back,   slow_governor,     idle};

}  // namespace

Shortage shortage_of(const Facts& facts) {
  if (throttled(facts)) return Shortage::cpu_limit;
  return others_take_the_cpu(facts) ? Shortage::busy_node : Shortage::none;
}

std::span<const Rule> app_rules() {
  return kRules;
}

std::vector<Advice> advise(const Facts& facts) {
  std::vector<Advice> all;
  for (const auto rules : {app_rules(), measurement_rules()}) {
    for (const Rule rule : rules) {
      if (auto found = rule(facts)) all.push_back(std::move(*found));
    }
  }
  return all;
}

}  // namespace assay::analysis
