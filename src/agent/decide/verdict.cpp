// SPDX-License-Identifier: Apache-2.0
#include "decide/verdict.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace assay::agent {
namespace {

using std::chrono::seconds;

/// One that is paced by a camera is never exactly at its rate.
constexpr double kTolerance = 0.99;
constexpr auto kSilent = seconds(30);
constexpr auto kNeverReported = seconds(60);

// What counts as a shortage, in shares of the last seconds.
constexpr double kThrottled = 0.1;
constexpr double kWaiting = 0.2;
constexpr double kFullNode = 0.05;  ///< of its cores is idle
constexpr double kFullMemory = 0.95;
constexpr double kNearlyFull = 0.8;

constexpr double kRich = 2;  ///< times better than asked for, or more than is used
constexpr double kStillRich = 1.5;
constexpr double kMostSurplus = 10;
constexpr double kReserve = 1.25;
constexpr double kWorthTaking = 0.25;  ///< of what it has
constexpr double kLeastCores = 0.05;
constexpr double kLeastMemory = 64e6;

bool at_least(double value, double bound) {
  return std::isfinite(value) && value >= bound;
}

bool is_stuck(const Evidence& evidence) {
  const bool listens = std::any_of(evidence.goals.begin(), evidence.goals.end(),
                                   [](const GoalState& goal) { return goal.reported; });
  if (!listens) return false;
  return evidence.silent ? *evidence.silent >= kSilent : evidence.running >= kNeverReported;
}

struct Shortage {
  Resource resource = Resource::none;
  bool own_limit = false;
  double share = 0;
};

Shortage cpu_shortage(const Evidence& evidence) {
  if (at_least(evidence.throttled_share, kThrottled))
    return {Resource::cpu, true, evidence.throttled_share};
  if (at_least(evidence.cpu_wait_share, kWaiting))
    return {Resource::cpu, false, evidence.cpu_wait_share};
  if (std::isfinite(evidence.cpu_wait_share)) return {};
  // Without pressure (v1) a full machine has to tell; an app at rest is not what fills it.
  const bool full = evidence.node_idle_cores <= kFullNode * evidence.node_cores;
  const bool works = at_least(evidence.cores, kLeastCores);
  return full && works ? Shortage{Resource::cpu, false, kWaiting} : Shortage{};
}

Shortage memory_shortage(const Evidence& evidence) {
  if (evidence.memory_limit && at_least(evidence.memory_limit_hits, 1) &&
      at_least(evidence.memory, kFullMemory * *evidence.memory_limit))
    return {Resource::memory, true, 1};
  if (!at_least(evidence.memory_wait_share, kWaiting)) return {};
  const bool full =
      evidence.memory_limit && at_least(evidence.memory, kNearlyFull * *evidence.memory_limit);
  return {Resource::memory, full, evidence.memory_wait_share};
}

Shortage disk_shortage(const Evidence& evidence) {
  if (!at_least(evidence.disk_wait_share, kWaiting)) return {};
  return {Resource::disk, false, evidence.disk_wait_share};
}

Shortage shortage_of(const Evidence& evidence) {
  const std::array all = {memory_shortage(evidence), cpu_shortage(evidence),
                          disk_shortage(evidence)};
  return *std::max_element(all.begin(), all.end(),
                           [](const Shortage& a, const Shortage& b) { return a.share < b.share; });
}

/// What it has at its command: its limit, or what it takes where there is none.
double cores_at_hand(const Evidence& evidence) {
  return std::max(evidence.cores, evidence.cores_limit.value_or(evidence.cores));
}

bool is_rich(const Evidence& evidence, double factor) {
  const auto surplus = surplus_of(evidence);
  const Spare spare = spare_of(evidence);
  const bool cores =
      spare.cores >= std::max(kLeastCores, kWorthTaking * cores_at_hand(evidence)) &&
      (surplus.value_or(0) >= factor || cores_at_hand(evidence) >= factor * evidence.cores);
  const bool memory = evidence.memory_limit &&
                      spare.memory_bytes >= std::max(kLeastMemory, *evidence.memory_limit / 2);
  return cores || memory;
}

Nanoseconds patience_for(const Finding& finding) {
  switch (finding.verdict) {
    case Verdict::stuck:
    case Verdict::leaking:
      return seconds(0);  // have waited long enough before they are found
    case Verdict::idle_rich:
      return seconds(10);
    default:
      return seconds(5);
  }
}

}  // namespace

std::string_view to_string(Verdict verdict) {
  constexpr std::array<std::string_view, kVerdicts> kNames = {
      "unknown", "meets", "starved", "misses", "idle-rich", "stuck", "leaking"};
  return kNames[static_cast<size_t>(verdict)];
}

std::string_view to_string(Resource resource) {
  constexpr std::array<std::string_view, 4> kNames = {"", "cpu", "memory", "disk"};
  return kNames[static_cast<size_t>(resource)];
}

std::optional<bool> GoalState::met() const {
  const auto times = surplus();
  if (!times) return std::nullopt;
  const bool strict = goal.comparison == Comparison::less || goal.comparison == Comparison::greater;
  if (strict && *value == goal.bound) return false;
  return *times >= kTolerance;
}

std::optional<double> GoalState::surplus() const {
  if (!value) return std::nullopt;
  const bool more_is_better =
      goal.comparison == Comparison::greater_equal || goal.comparison == Comparison::greater;
  const double better = more_is_better ? *value : goal.bound;
  const double worse = more_is_better ? goal.bound : *value;
  if (worse <= 0) return better >= worse ? kMostSurplus : 0;
  return better / worse;
}

std::optional<double> surplus_of(const Evidence& evidence) {
  std::optional<double> least;
  for (const auto& goal : evidence.goals) {
    if (!goal.reported) continue;
    const auto surplus = goal.surplus();
    if (!surplus) return std::nullopt;
    least = least ? std::min(*least, *surplus) : *surplus;
  }
  return least;
}

/// That half the cores give half the frames is a guess, which is why it is only ever approached
/// step by step.
Spare spare_of(const Evidence& evidence) {
  Spare spare;
  const double surplus = std::clamp(surplus_of(evidence).value_or(1), 1.0, kMostSurplus);
  if (std::isfinite(evidence.cores)) {
    const double needed = evidence.cores * std::min(kReserve / surplus, 1.0);
    const double wanted = surplus > 1 ? needed : evidence.cores * kReserve;
    spare.cores = std::max(0.0, cores_at_hand(evidence) - std::max(wanted, kLeastCores));
  }
  if (evidence.memory_limit && std::isfinite(evidence.memory_peak))
    spare.memory_bytes = std::max(0.0, *evidence.memory_limit - kReserve * evidence.memory_peak);
  return spare;
}

Finding judge(const Evidence& evidence, Verdict now) {
  if (evidence.goals.empty()) return {};
  if (is_stuck(evidence)) return {Verdict::stuck};
  const auto missed = [](const GoalState& goal) { return goal.met() == false; };
  if (std::any_of(evidence.goals.begin(), evidence.goals.end(), missed)) {
    const Shortage shortage = shortage_of(evidence);
    if (shortage.resource == Resource::none) return {Verdict::misses};
    return {Verdict::starved, shortage.resource, shortage.own_limit};
  }
  const auto known = [](const GoalState& goal) { return goal.met().has_value(); };
  if (!std::all_of(evidence.goals.begin(), evidence.goals.end(), known)) return {};
  const double factor = now == Verdict::idle_rich ? kStillRich : kRich;
  return {is_rich(evidence, factor) ? Verdict::idle_rich : Verdict::meets};
}

bool Held::take(const Finding& finding, Timestamp now) {
  if (finding == held_) {
    next_ = held_;
    return false;
  }
  if (finding != next_) {
    next_ = finding;
    next_since_ = now;
  }
  // The first verdict needs no more than what was needed to find it.
  const bool first = held_.verdict == Verdict::unknown && finding.verdict == Verdict::meets;
  if (!first && now - next_since_ < patience_for(finding)) return false;
  held_ = finding;
  since_ = now;
  return true;
}

}  // namespace assay::agent
