// SPDX-License-Identifier: Apache-2.0
#include "act/steward.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <fnmatch.h>

#include <assay/base/text.h>

namespace assay::agent {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

/// At least so long a step is left to work.
constexpr auto kSettle = seconds(6);
constexpr auto kRest = minutes(5);
constexpr auto kCalm = minutes(1);  ///< before limits are given back
constexpr int kFruitless = 3;
constexpr double kLeastStep = 0.05;  ///< cores
constexpr double kHelps = 1.01;
constexpr double kIdle = 0.1;  ///< of the machine, before limits are given back

std::string limit_text(const LimitChange& limit) {
  const auto cores = [](double value) {
    return value > 0 ? fmt::format("{:.2f}", value) : std::string("no limit");
  };
  if (limit.cores) return cores(*limit.cores);
  if (limit.memory_bytes)
    return *limit.memory_bytes > 0 ? format_bytes(static_cast<double>(*limit.memory_bytes))
                                   : "no limit";
  return "";
}

bool misses(const Decision& decision) {
  return std::any_of(decision.evidence.goals.begin(), decision.evidence.goals.end(),
                     [](const GoalState& goal) { return goal.met() == false; });
}

/// How far back all that is known about an app reaches.
Nanoseconds span_of(const Evidence& evidence) {
  Nanoseconds longest = evidence.over;
  for (const auto& goal : evidence.goals) longest = std::max(longest, goal.over);
  return longest;
}

const Decision* find(const std::map<std::string, Decision>& apps, const std::string& path) {
  const auto found = apps.find(path);
  return found == apps.end() ? nullptr : &found->second;
}

/// The goal it misses, or its first: "fps >= 10".
std::string goal_of(const Decision& decision) {
  for (const auto& goal : decision.evidence.goals)
    if (goal.met() == false) return goal.goal.text;
  return decision.evidence.goals.empty() ? "its goals" : decision.evidence.goals.front().goal.text;
}

}  // namespace

std::string_view to_string(Step::Kind kind) {
  constexpr std::array<std::string_view, 4> kNames = {"lower", "raise", "undo", "give back"};
  return kNames[static_cast<size_t>(kind)];
}

std::string in_words(const Step& step) {
  return fmt::format("{} {}: {} {} -> {}: {}", to_string(step.kind), step.name,
                     step.to.cores ? "cores" : "memory", limit_text(step.from), limit_text(step.to),
                     step.reason);
}

Result<void> check_bounds(const LimitChange& change, const ActSettings& bounds,
                          const NodeSize& node) {
  const double most_cores = bounds.most_cores > 0 ? bounds.most_cores : node.cores;
  const uint64_t most_memory = bounds.most_memory > 0 ? bounds.most_memory : node.memory_bytes;
  if (change.cores && (*change.cores < bounds.least_cores || *change.cores > most_cores))
    return bad_input(fmt::format("cores: {} is not within the operator's bounds, {} to {}",
                                 format_number(*change.cores), format_number(bounds.least_cores),
                                 format_number(most_cores)));
  if (change.memory_bytes &&
      (*change.memory_bytes < bounds.least_memory || *change.memory_bytes > most_memory))
    return bad_input(fmt::format("memory: {} is not within the operator's bounds, {} to {}",
                                 format_bytes(static_cast<double>(*change.memory_bytes)),
                                 format_bytes(static_cast<double>(bounds.least_memory)),
                                 format_bytes(static_cast<double>(most_memory))));
  return {};
}

bool Steward::may_change(const std::string& path, const Decision& decision, Timestamp now) const {
  const auto rest = resting_.find(path);
  if (rest != resting_.end() && now < rest->second) return false;
  const auto matches = [&](const std::string& glob) {
    return ::fnmatch(glob.c_str(), decision.name.c_str(), 0) == 0;
  };
  return settings_.apps.empty() ||
         std::any_of(settings_.apps.begin(), settings_.apps.end(), matches);
}

std::optional<Step> Steward::next(const Apps& apps, Timestamp now) {
  if (trial_ && now < trial_->until) return std::nullopt;
  if (trial_) {
    auto undone = look_back(apps, now);
    trial_.reset();
    if (undone) return undone;
  }
  std::vector<std::pair<double, std::string>> starved;  // the worst first
  for (const auto& [path, decision] : apps) {
    if (decision.main.finding().verdict != Verdict::starved || !misses(decision)) continue;
    starved.emplace_back(surplus_of(decision.evidence).value_or(0), path);
  }
  std::sort(starved.begin(), starved.end());
  if (!starved.empty()) last_starved_ = now;
  for (const auto& [surplus, path] : starved) {
    helped_ = path;
    if (auto step = help(path, apps.at(path), apps, now)) return step;
  }
  helped_.clear();
  return starved.empty() ? give_back(apps, now) : std::nullopt;
}

/// What the last step has done. Gives the step that undoes it when it was a bad one.
std::optional<Step> Steward::look_back(const Apps& apps, Timestamp now) {
  const Trial& trial = *trial_;
  const Decision* const changed = find(apps, trial.step.path);
  const auto place = changed_.find(trial.step.path);
  const bool tried = trial.step.kind == Step::Kind::lower || trial.step.kind == Step::Kind::raise;
  if (changed == nullptr || place == changed_.end() || !tried) return std::nullopt;
  if (trial.step.kind == Step::Kind::lower && misses(*changed)) {
    place->second.least_cores = trial.step.from.cores.value_or(0);
    place->second.least_until = now + kRest;
    if (place->second.least_cores <= 0) resting_[trial.step.path] = now + kRest;
    return undo(trial.step, fmt::format("it misses {} with less", goal_of(*changed)));
  }
  for (const auto& [path, decision] : apps) {
    const bool missed = std::find(trial.missed_before.begin(), trial.missed_before.end(), path) !=
                        trial.missed_before.end();
    if (path == trial.step.path || missed || !misses(decision)) continue;
    resting_[trial.step.path] = now + kRest;
    if (!trial.step.to.cores) return std::nullopt;
    return undo(trial.step, fmt::format("{} misses {} since", decision.name, goal_of(decision)));
  }
  return look_back_for_help(apps, place->second, now);
}

/// After some steps that did not help whom they were made for, all of them are undone. More memory
/// stays: to take it away again could end the app.
std::optional<Step> Steward::look_back_for_help(const Apps& apps, App& app, Timestamp now) {
  const Trial& trial = *trial_;
  const Decision* const starved = find(apps, trial.starved);
  if (starved == nullptr) return std::nullopt;
  const double surplus = surplus_of(starved->evidence).value_or(0);
  const bool helped = surplus > trial.surplus_before && surplus >= trial.surplus_before * kHelps;
  app.fruitless = helped ? 0 : app.fruitless + 1;
  if (app.fruitless < kFruitless) return std::nullopt;
  app.fruitless = 0;
  resting_[trial.step.path] = now + kRest;
  if (!trial.step.to.cores) return std::nullopt;
  Step back = undo(trial.step, fmt::format("it did not help {}", starved->name));
  back.to = {.cores = app.original};
  return back;
}

Step Steward::undo(const Step& step, std::string reason) const {
  return {Step::Kind::undo, step.path, step.name, step.from, step.to, std::move(reason)};
}

std::optional<Step> Steward::help(const std::string& path, const Decision& starved,
                                  const Apps& apps, Timestamp now) {
  const Finding& finding = starved.main.finding();
  if (finding.resource == Resource::cpu && !finding.own_limit)
    return take_from_somebody(path, starved, apps, now);
  if (!finding.own_limit || !may_change(path, starved, now)) return std::nullopt;
  if (finding.resource == Resource::cpu) return raise_cores(path, starved);
  return finding.resource == Resource::memory ? raise_memory(path, starved) : std::nullopt;
}

std::optional<Step> Steward::raise_cores(const std::string& path, const Decision& starved) const {
  const auto limit = starved.evidence.cores_limit;
  if (!limit) return std::nullopt;
  const double most = settings_.most_cores > 0 ? settings_.most_cores : node_.cores;
  const double target = std::min(most, *limit + std::max(kLeastStep, *limit * settings_.step));
  constexpr double kNothing = 0.01;
  if (target < *limit + kNothing) return std::nullopt;
  return Step{
      Step::Kind::raise, path,
      starved.name,      {.cores = target},
      {.cores = *limit}, fmt::format("it misses {} and its limit holds it back", goal_of(starved))};
}

std::optional<Step> Steward::raise_memory(const std::string& path, const Decision& starved) const {
  const auto limit = starved.evidence.memory_limit;
  if (!limit) return std::nullopt;
  const uint64_t most = settings_.most_memory > 0 ? settings_.most_memory : node_.memory_bytes;
  const auto now = static_cast<uint64_t>(*limit);
  const auto target =
      std::min(most, static_cast<uint64_t>(*limit * (1 + settings_.step)) / 4096 * 4096);
  if (target <= now) return std::nullopt;
  return Step{Step::Kind::raise,
              path,
              starved.name,
              {.memory_bytes = target},
              {.memory_bytes = now},
              fmt::format("it misses {} and keeps hitting its limit", goal_of(starved))};
}

double Steward::lowered_cores(const std::string& path, const Decision& donor, Timestamp now) const {
  const Evidence& evidence = donor.evidence;
  const double hand = std::max(evidence.cores, evidence.cores_limit.value_or(evidence.cores));
  const double needed = hand - spare_of(evidence).cores;
  const double taken = std::min(evidence.cores, hand) * (1 - settings_.step);
  double least = settings_.least_cores;
  const auto known = changed_.find(path);
  if (known != changed_.end() && now < known->second.least_until)
    least = std::max(least, known->second.least_cores);
  return std::max({taken, needed, least});
}

std::optional<Step> Steward::take_from_somebody(const std::string& path, const Decision& starved,
                                                const Apps& apps, Timestamp now) const {
  std::optional<Step> best;
  double most_spare = 0;
  for (const auto& [other, donor] : apps) {
    const bool rich = donor.main.finding().verdict == Verdict::idle_rich && !misses(donor);
    if (other == path || !rich || !may_change(other, donor, now)) continue;
    const double cores = donor.evidence.cores;
    const double target = lowered_cores(other, donor, now);
    const double spare = spare_of(donor.evidence).cores;
    if (!(target <= cores - kLeastStep / 2) || spare <= most_spare) continue;
    most_spare = spare;
    best = Step{Step::Kind::lower,
                other,
                donor.name,
                {.cores = target},
                {.cores = donor.evidence.cores_limit.value_or(0)},
                fmt::format("it has far more than it needs for {}, and {} misses {}",
                            goal_of(donor), starved.name, goal_of(starved))};
  }
  return best;
}

/// Nobody lacks anything: limits that were lowered go back up, one after the other.
std::optional<Step> Steward::give_back(const Apps& apps, Timestamp now) const {
  if (now - last_starved_ < kCalm) return std::nullopt;
  for (const auto& [path, app] : changed_) {
    const Decision* const decision = find(apps, path);
    if (decision == nullptr || !app.current || !app.original) continue;
    const bool idle = decision->evidence.node_idle_cores >= kIdle * node_.cores;
    const double original = *app.original > 0 ? *app.original : node_.cores;
    if (!idle || *app.current <= 0 || *app.current >= original) continue;
    const double target = *app.current * (1 + 2 * settings_.step);
    const bool whole = target >= original;
    return Step{Step::Kind::give_back,
                path,
                app.name,
                {.cores = whole ? *app.original : target},
                {.cores = *app.current},
                "nobody lacks it any more"};
  }
  return std::nullopt;
}

void Steward::made(const Step& step, const Apps& apps, Timestamp now) {
  App& app = changed_[step.path];
  app.name = step.name;
  if (step.to.cores && !app.original) app.original = step.from.cores;
  if (step.to.cores) app.current = step.to.cores;
  Trial trial{.step = step, .until = now + kSettle, .starved = helped_, .missed_before = {}};
  for (const auto& [path, decision] : apps) {
    if (path != step.path && path != helped_) continue;
    trial.until = std::max(trial.until, now + span_of(decision.evidence) + seconds(1));
  }
  for (const auto& [path, decision] : apps)
    if (misses(decision)) trial.missed_before.push_back(path);
  if (const Decision* const starved = find(apps, helped_))
    trial.surplus_before = surplus_of(starved->evidence).value_or(0);
  trial_ = std::move(trial);
}

void Steward::failed(const Step& step, Timestamp now) {
  resting_[step.path] = now + kRest;
}

std::vector<Step> Steward::put_back() const {
  std::vector<Step> steps;
  for (const auto& [path, app] : changed_) {
    if (app.original == app.current) continue;
    steps.push_back({Step::Kind::undo,
                     path,
                     app.name,
                     {.cores = app.original},
                     {.cores = app.current},
                     "nobody would watch it any more"});
  }
  return steps;
}

void Steward::forget(const std::string& path) {
  changed_.erase(path);
  resting_.erase(path);
  if (trial_ && trial_->step.path == path) trial_.reset();
}

}  // namespace assay::agent
