// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fmt/format.h>
#include <set>

#include <assay/cluster/trial_report.h>

namespace assay::cluster {
namespace {

void rule_out(TrialRunner& runner, TrialReport& report) {
  for (size_t i = 0; i < report.choices.size(); ++i)
    if (auto reason = runner.lacks_room(report.choices[i]))
      report.ruled.push_back({i, std::move(*reason)});
}

std::string told(const TrialReport& report, const TrialResult& result) {
  const std::string name = name_of(result.choice, report.resource);
  if (result.end != TrialEnd::measured) return fmt::format("{}: {}", name, result.reason);
  return fmt::format("{}: {:.4g} a second{}{}", name, result.throughput.value,
                     result.session.empty() ? "" : ", kept as session ", result.session);
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
  // A guess that rests on no trial is no answer.
  if (speeds.empty()) {
    for (auto* one : {&judgement.plan.answer, &judgement.plan.fastest, &judgement.plan.cheapest})
      one->reset();
    judgement.plan.clear = false;
  }
  const ScalingBelief belief(report.choices, speeds, report.question.prices);
  for (size_t i = 0; i < belief.kinds().size(); ++i) judgement.laws.push_back(belief.law(i));
  return judgement;
}

bool nothing_is_known(const TrialReport& report) {
  std::set<Choice> hopeless;
  for (const auto& one : report.ruled) hopeless.insert(report.choices[one.choice]);
  for (const auto& trial : report.trials) {
    if (trial.end == TrialEnd::measured) return false;
    if (trial.end == TrialEnd::failed || trial.end == TrialEnd::no_room)
      hopeless.insert(trial.choice);
  }
  return hopeless.size() < report.choices.size();
}

namespace {

/// The loop of one call.
class Trials {
 public:
  Trials(TrialRunner& runner, const TrialWorld& world, TrialReport& report)
      : runner_(runner), world_(world), report_(report) {}

  Result<void> run() {
    const Timestamp begun = world_.clock.now();
    rule_out(runner_, report_);
    const auto done = go_on();
    report_.ended = world_.clock.wall();
    report_.begun = report_.ended - (world_.clock.now() - begun);
    if (done) return {};
    report_.interrupted = !world_.wanted();
    if (report_.interrupted && !report_.trials.empty()) return {};
    return done;
  }

 private:
  struct Running {
    Tried assumed = {};   ///< what is expected of it
    bool beside = false;  ///< others ran when it began
  };

  Result<void> go_on() {
    while (true) {
      begin_more();
      if (!runner_.busy() && !world_.wanted()) return refused("it was interrupted");
      if (!runner_.busy()) return {};
      ASSAY_TRY(auto ended, runner_.step());
      for (auto& result : ended) take(std::move(result));
      if (ended.empty()) runner_.pause();
    }
  }

  /// Asked anew only when something has changed.
  void begin_more() {
    while (world_.wanted() && !runner_.is_full()) {
      if (!plan_) {
        auto tried = tried_of(report_);
        for (const auto& one : running_) tried.push_back(one.assumed);
        plan_ = plan_trials(report_.choices, tried, report_.question, report_.limits);
      }
      if (!plan_->next || !may_begin(*plan_->next)) return;
      const size_t next = *plan_->next;
      runner_.begin(report_.choices[next]);
      running_.push_back({{.choice = next, .throughput = plan_->standings[next].expected.value},
                          !running_.empty()});
      plan_.reset();
    }
  }

  bool may_begin(size_t choice) const {
    const bool waits =
        std::any_of(running_.begin(), running_.end(),
                    [&](const Running& one) { return one.assumed.choice == choice; }) ||
        (!running_.empty() && alone_.contains(choice));
    return !waits && runner_.may_begin(report_.choices[choice]);
  }

  void take(TrialResult result) {
    const auto one = std::find_if(running_.begin(), running_.end(), [&](const Running& running) {
      return report_.choices[running.assumed.choice] == result.choice;
    });
    const bool beside = one != running_.end() && one->beside;
    const size_t choice = one != running_.end() ? one->assumed.choice : 0;
    if (one != running_.end()) running_.erase(one);
    plan_.reset();
    // The others may have had its room.
    if (beside && (result.end == TrialEnd::no_room || result.end == TrialEnd::busy)) {
      alone_.insert(choice);
      world_.doing(fmt::format("{}: no room beside others; it waits until they have ended",
                               name_of(result.choice, report_.resource)));
      return;
    }
    world_.doing(told(report_, result));
    report_.trials.push_back(std::move(result));
  }

  TrialRunner& runner_;
  const TrialWorld& world_;
  TrialReport& report_;
  std::optional<Plan> plan_;
  std::vector<Running> running_;
  std::set<size_t> alone_;  ///< choices that found no room beside others
};

}  // namespace

Result<void> run_trials(TrialRunner& runner, const TrialWorld& world, TrialReport& report) {
  return Trials(runner, world, report).run();
}

}  // namespace assay::cluster
