// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fmt/format.h>

#include <assay/cluster/trial_report.h>

namespace assay::cluster {
namespace {

void rule_out(TrialRunner& runner, TrialReport& report) {
  for (size_t i = 0; i < report.choices.size(); ++i)
    if (auto reason = runner.lacks_room(report.choices[i]))
      report.ruled.push_back({i, std::move(*reason)});
}

std::string told(const TrialResult& result) {
  if (result.end != TrialEnd::measured)
    return fmt::format("{}: {}", name_of(result.choice), result.reason);
  return fmt::format("{}: {:.4g} a second", name_of(result.choice), result.throughput.value);
}

}  // namespace

std::vector<Tried> tried_of(const TrialReport& report) {
  std::vector<Tried> all;
  for (const auto& one : report.ruled)
    all.push_back({.choice = one.choice, .end = TrialEnd::no_room, .known = true});
  for (const auto& result : report.trials) {
    const auto found = std::find(report.choices.begin(), report.choices.end(), result.choice);
    if (found != report.choices.end())
      all.push_back(tried_of(result, static_cast<size_t>(found - report.choices.begin())));
  }
  return all;
}

Judgement judge(const TrialReport& report) {
  const auto tried = tried_of(report);
  Judgement judgement;
  judgement.plan = plan_trials(report.choices, tried, report.question, report.limits);
  std::vector<Speed> speeds;
  for (const auto& one : tried)
    if (one.end == TrialEnd::measured && one.throughput > 0)
      speeds.push_back({one.choice, one.throughput, one.error});
  const ScalingBelief belief(report.choices, speeds, report.question.prices);
  for (size_t i = 0; i < belief.kinds().size(); ++i) judgement.laws.push_back(belief.law(i));
  return judgement;
}

Result<void> run_trials(TrialRunner& runner, const TrialWorld& world, TrialReport& report) {
  report.begun = world.clock.wall();
  rule_out(runner, report);
  while (true) {
    const Plan plan = plan_trials(report.choices, tried_of(report), report.question, report.limits);
    if (!plan.next) break;
    auto result = runner.run(report.choices[*plan.next]);
    if (!result) {
      report.interrupted = !world.wanted();
      report.ended = world.clock.wall();
      if (report.interrupted && !report.trials.empty()) return {};
      return fail(result.error());
    }
    world.doing(told(*result));
    report.trials.push_back(std::move(*result));
  }
  report.ended = world.clock.wall();
  return {};
}

}  // namespace assay::cluster
