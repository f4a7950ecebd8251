// SPDX-License-Identifier: Apache-2.0
#include "trial_told.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <iterator>
#include <thread>

#include <assay/base/quiet_thread.h>
#include <assay/cluster/trial_history.h>
#include <assay/cluster/trial_runner.h>
#include <assay/session/new_session.h>
#include <assay/session/spec.h>
#include <assay/store/recorder.h>

namespace assay::cluster {
namespace {

using kubeapi::PodPhase;

/// An agent that did not answer is left alone for a while, and for longer each time: the trials
/// must not wait for it.
constexpr Nanoseconds kRest = std::chrono::seconds(10);
constexpr Nanoseconds kLongestRest = std::chrono::seconds(60);
/// So long nobody waits for an agent that is there.
constexpr Nanoseconds kInVain = Milliseconds(500);
/// One look of so many may fail.
constexpr uint64_t kFewMissed = 5;

/// What the pod is called beside its copy: "worker-0".
std::string role_of(const std::string& pod, const std::string& object) {
  return pod.starts_with(object + "-") ? pod.substr(object.size() + 1) : pod;
}

RunStatus status_of(const TrialResult& trial, PodPhase phase, bool oom, bool interrupted) {
  if (oom) return RunStatus::oom;
  if (phase == PodPhase::succeeded) return RunStatus::finished;
  if (phase == PodPhase::failed) return RunStatus::failed;
  if (interrupted || trial.end != TrialEnd::measured) return RunStatus::interrupted;
  return RunStatus::timeout;
}

std::string detail_of(const TrialResult& trial, RunStatus status) {
  if (status == RunStatus::finished) return "exited with code 0";
  if (status == RunStatus::timeout) return "ended after its time, as trials are";
  if (!trial.reason.empty()) return trial.reason;
  return status == RunStatus::interrupted ? "the trial was interrupted" : "it failed";
}

}  // namespace

/// One container.
struct TrialHistory::Run {
  RunRecord record = {};
  std::string node = {};
  PodPhase phase = PodPhase::running;
  std::unique_ptr<launch::AgentWatch> watch = {};  ///< none: nobody measures it
  std::unique_ptr<TrialSink> sink = {};
  std::string trouble = {};  ///< of the agent
  bool seen = false;
  uint64_t looks = 0;
  uint64_t missed = 0;
  Timestamp next = {};  ///< before which the agent is not asked again
  Nanoseconds rest = kRest;

  bool can_tell() const { return sink && !watch->ended(); }
  void miss(const std::string& why, Timestamp now) {
    ++missed;
    trouble = why;
    next = now + rest;
    rest = std::min(2 * rest, kLongestRest);
  }
};

struct TrialHistory::Kept {
  std::string metric = {};  ///< by which it is measured
  bool several = false;     ///< pods
  Target target = {};
  std::map<std::string, std::string> labels = {};
  SessionRecord session = {};                             ///< without an id: not begun
  std::map<std::string, std::unique_ptr<Run>> runs = {};  ///< by their containers
  bool given_up = false;
};

std::vector<NotMeasured> TrialHistory::gaps_of(const Run& run) {
  const std::string who = "the agent on " + run.node;
  std::vector<NotMeasured> gaps = {{"node and power", who + " is asked about the app alone"}};
  if (!run.seen)
    gaps.push_back({"app", run.trouble.empty() ? who + " did not see its container" : run.trouble});
  else if (run.missed > 0)
    gaps.push_back(
        {"app", fmt::format("{} did not answer {} times: {}", who, run.missed, run.trouble)});
  return gaps;
}

TrialHistory::TrialHistory(store::Store& store, launch::Agents& agents, const Clock& clock,
                           Place place)
    : store_(store), agents_(agents), clock_(clock), place_(std::move(place)) {}

TrialHistory::~TrialHistory() = default;

void TrialHistory::begin(const TrialResult& trial, const TrialSettings& settings,
                         const TrialCopy& copy) {
  auto kept = std::make_unique<Kept>();
  kept->several = copy.pods > 1;
  kept->metric = settings.measure.metric;
  kept->target.name = name_of(trial.choice, settings.copy.resource);
  kept->target.runtime = "kubernetes";
  kept->target.timeout = settings.warm_up + settings.time;
  kept->target.warmup = settings.warm_up;
  kept->target.interval = std::chrono::seconds(1);
  if (settings.copy.resource == "cpu")
    kept->target.limits.cpus = copy.each;
  else
    kept->target.limits.gpus = quantity_of(copy.each);
  kept->labels = {{session::kTrialOf, settings.copy.trial},
                  {"choice", kept->target.name},
                  {"copy", trial.object}};
  trials_[trial.object] = std::move(kept);
}

void TrialHistory::give_up(Kept& kept, const std::string& why) {
  kept.given_up = true;
  if (!noted_) place_.note("trials are not kept in the history: " + why);
  noted_ = true;
}

Result<void> TrialHistory::begin_session(Kept& kept, const std::string& node) {
  session::NewSession session{.app = place_.app,
                              .device = agents_.device(node),
                              .labels = kept.labels,
                              .sessions_folder = place_.sessions_folder};
  ASSAY_TRY(kept.session, session::add_session(store_, session, clock_));
  for (auto& [id, run] : kept.runs) ASSAY_CHECK(begin_run(kept, *run));
  return {};
}

Result<void> TrialHistory::begin_run(Kept& kept, Run& run) {
  ASSAY_CHECK(store_.put_run(kept.session.id, run.record));
  if (run.watch)
    run.sink = std::make_unique<TrialSink>(
        store::make_recorder(store_, kept.session.id, run.record.ordinal), kept.metric);
  return {};
}

void TrialHistory::add(Kept& kept, const kubeapi::Pod& pod,
                       const kubeapi::PodContainer& container) {
  auto run = std::make_unique<Run>();
  run->node = pod.node;
  run->record.ordinal = static_cast<int>(kept.runs.size()) + 1;
  run->record.target_index = run->record.ordinal - 1;
  run->record.target = kept.target;
  run->record.target.image = container.image;
  std::string& name = run->record.target.name;
  if (kept.several) name += ", " + role_of(pod.name, kept.labels.at("copy"));
  const auto prepared = std::count_if(pod.containers.begin(), pod.containers.end(),
                                      [](const auto& one) { return one.prepares; });
  if (std::ssize(pod.containers) - prepared > 1) name += ", " + container.name;
  run->record.runtime = "kubernetes";
  run->record.isolation = "pod";
  run->record.started = clock_.now();
  run->record.ended = run->record.started;
  Run& added = *(kept.runs[container.id] = std::move(run));
  if (!kept.session.id.empty()) {
    if (const auto done = begin_run(kept, added); !done) give_up(kept, done.error().message);
  }
}

/// Also again: an agent may start after the app.
void TrialHistory::watch(Kept& kept, const std::string& container, Run& run) {
  if (kept.given_up || run.watch || clock_.now() < run.next) return;
  auto watch = agents_.watch(run.node, container);
  if (!watch && !place_.wanted()) return;
  if (!watch) {
    run.trouble = watch.error().message;
    run.next = clock_.now() + kRest;
    return;
  }
  run.watch = std::move(*watch);
  const auto done = kept.session.id.empty() ? begin_session(kept, run.node) : begin_run(kept, run);
  if (!done) give_up(kept, done.error().message);
}

/// Those of one node. What one of them waited for in vain, the others need not wait for.
void TrialHistory::ask(const std::vector<Run*>& of_node) const {
  std::string trouble;
  for (Run* const run : of_node) {
    ++run->looks;
    if (!trouble.empty()) {
      run->miss(trouble, clock_.now());
      continue;
    }
    const auto begin = std::chrono::steady_clock::now();
    const auto known = run->watch->look(*run->sink);
    if (known) {
      run->seen |= *known;
      run->rest = kRest;
      continue;
    }
    if (!place_.wanted()) return;
    run->miss(known.error().message, clock_.now());
    if (std::chrono::steady_clock::now() - begin >= kInVain) trouble = known.error().message;
  }
}

/// All nodes at once: an agent that hangs holds up none of the others. The last time also those
/// that rest: what they know would be lost.
void TrialHistory::ask_all(Kept& kept, bool last) {
  std::map<std::string, std::vector<Run*>> due;
  for (auto& [id, run] : kept.runs)
    if (run->can_tell() && (last || clock_.now() >= run->next)) due[run->node].push_back(run.get());
  {
    std::vector<std::jthread> others;
    for (auto of_node = due.begin(); of_node != due.end(); ++of_node) {
      if (std::next(of_node) == due.end())
        ask(of_node->second);
      else
        others.push_back(quiet_thread([this, &runs = of_node->second] { ask(runs); }));
    }
  }
  for (const auto& [node, runs] : due)
    if (runs.back()->missed > 0 && silent_.insert(node).second)
      place_.note(runs.back()->trouble + "; trials go on without it");
}

void TrialHistory::look(const TrialResult& trial, const std::vector<kubeapi::Pod>& pods) {
  const auto found = trials_.find(trial.object);
  if (found == trials_.end()) return;
  Kept& kept = *found->second;
  for (const auto& pod : pods) {
    for (const auto& container : pod.containers) {
      if (container.prepares || container.id.empty() || kept.given_up) continue;
      if (!kept.runs.contains(container.id)) add(kept, pod, container);
      kept.runs[container.id]->phase = pod.phase;
    }
  }
  for (auto& [id, run] : kept.runs) watch(kept, id, *run);
  if (kept.given_up) return;
  ask_all(kept, false);
}

void TrialHistory::measure(const TrialSettings& settings, TrialResult& trial) const {
  const auto found = trials_.find(trial.object);
  if (found == trials_.end() || found->second->session.id.empty()) return;
  const Kept& kept = *found->second;
  const std::string& metric = settings.measure.metric;
  // The sum of some pods would be taken for that of all.
  if (!unheard(trial).empty()) return;
  // The samples are on our own clock, which nobody sets.
  const Nanoseconds stepped = clock_.now() - clock_.wall();
  Told told;
  for (const auto& [id, run] : kept.runs)
    if (run->sink) run->sink->tell(trial.begin + stepped, trial.end_time + stepped, told);
  if (!metric.empty() && !(trial.throughput.value > 0) && told.throughput) {
    trial.throughput = *told.throughput;
    trial.source = fmt::format("{} as its agent has it", metric);
  }
  if (settings.copy.resource != "cpu") return;
  if (!trial.utilization && told.cores) trial.utilization = *told.cores / trial.choice.count;
  if (!trial.memory_bytes) trial.memory_bytes = told.memory_bytes;
}

std::string TrialHistory::unheard(const TrialResult& trial) const {
  const auto found = trials_.find(trial.object);
  if (found == trials_.end()) return "";
  for (const auto& [id, run] : found->second->runs) {
    const bool heard = run->watch && run->seen && run->missed * kFewMissed <= run->looks;
    if (!heard)
      return run->trouble.empty() ? fmt::format("the agent on {} did not see it", run->node)
                                  : run->trouble;
  }
  return "";
}

Result<void> TrialHistory::end_run(Kept& kept, Run& run, const TrialResult& trial,
                                   bool interrupted) {
  RunRecord& record = run.record;
  record.ended = clock_.now();
  if (run.watch) {
    record.started = run.watch->started().value_or(record.started);
    record.ended = run.watch->ended().value_or(record.ended);
    record.exit = run.watch->used();
    record.elsewhere = run.watch->elsewhere();
  }
  record.ended = std::max(record.started, record.ended);
  record.exit.oom_killed |=
      run.phase == PodPhase::failed && trial.reason.find("OOMKilled") != std::string::npos;
  record.status = status_of(trial, run.phase, record.exit.oom_killed, interrupted);
  record.exit.detail = session::masked_text(detail_of(trial, record.status));
  if (record.status == RunStatus::finished) record.exit.code = 0;
  record.sampling =
      Sampling{.interval = record.target.interval,
               .achieved_interval =
                   record.duration() / static_cast<int64_t>(std::max<uint64_t>(1, run.looks)),
               .beats = run.looks};
  record.not_measured = gaps_of(run);
  if (run.sink) {
    ASSAY_TRY(record.losses, run.sink->recorder().finish());
  }
  ASSAY_CHECK(store_.put_run(kept.session.id, record));
  return store_.compact(kept.session.id, record.ordinal);
}

std::string TrialHistory::end(const TrialResult& trial, bool interrupted) {
  const auto found = trials_.find(trial.object);
  if (found == trials_.end()) return "";
  const std::unique_ptr<Kept> kept = std::move(found->second);
  trials_.erase(found);
  if (kept->session.id.empty()) {
    for (const auto& [id, run] : kept->runs)
      if (!kept->given_up && !run->trouble.empty()) give_up(*kept, run->trouble);
    return "";
  }
  if (!interrupted) ask_all(*kept, true);
  for (auto& [id, run] : kept->runs)
    if (const auto done = end_run(*kept, *run, trial, interrupted); !done)
      give_up(*kept, done.error().message);
  if (const auto written = session::write_session(store_, kept->session); !written)
    give_up(*kept, written.error().message);
  return kept->session.id;
}

}  // namespace assay::cluster
