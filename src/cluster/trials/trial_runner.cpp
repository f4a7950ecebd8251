// SPDX-License-Identifier: Apache-2.0
#include "log_rate.h"
#include "trial_metrics.h"
#include "trial_pods.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include <assay/cluster/trial_runner.h>
#include <assay/kubeapi/follower.h>
#include <assay/kubeapi/writes.h>
#include <assay/net/http_client.h>

namespace assay::cluster {
namespace {

using kubeapi::Outcome;
using kubeapi::Pod;
using kubeapi::PodPhase;

constexpr Nanoseconds kGonePatience = std::chrono::seconds(60);
/// Requests about nodes are rarer than looks at pods.
constexpr int kLooksPerNode = 5;

/// Until when something is waited for.
class Until {
 public:
  Until(const TrialWorld& world, Nanoseconds patience)
      : world_(world), end_(world.clock.now() + patience) {}
  bool over() const { return world_.clock.now() >= end_; }
  /// False when it is over.
  bool wait(Nanoseconds time) const {
    if (over()) return false;
    world_.pause(time);
    return true;
  }

 private:
  const TrialWorld& world_;
  const Timestamp end_;
};

bool all_are(const std::vector<Pod>& pods, std::initializer_list<PodPhase> phases) {
  return std::all_of(pods.begin(), pods.end(), [&](const Pod& pod) {
    return std::find(phases.begin(), phases.end(), pod.phase) != phases.end();
  });
}
const Pod* failed_of(const std::vector<Pod>& pods) {
  const auto found = std::find_if(pods.begin(), pods.end(),
                                  [](const Pod& pod) { return pod.phase == PodPhase::failed; });
  return found == pods.end() ? nullptr : &*found;
}

Failure interrupted() {
  return refused("it was interrupted");
}

}  // namespace

Result<void> check_measure(const Measure& measure) {
  ASSAY_CHECK(check_metric(measure.metric));
  if (measure.log_pattern.empty()) return {};
  ASSAY_TRY([[maybe_unused]] const auto pattern, LogPattern::compile(measure.log_pattern));
  return {};
}

Tried tried_of(const TrialResult& result, size_t choice) {
  return {.choice = choice,
          .end = result.end,
          .throughput = result.throughput.value,
          .error = result.throughput.sd};
}

TrialRunner::TrialRunner(kubeapi::Client& client, promapi::Queries* queries, TrialWorld world,
                         TrialSettings settings)
    : client_(client),
      queries_(queries),
      world_(std::move(world)),
      settings_(std::move(settings)),
      // Not the same as that of a call before.
      number_(static_cast<uint64_t>(unix_ns(world_.clock.now())) / 1'000'000) {
  client_.set_wanted(world_.wanted);
}

Result<void> TrialRunner::prepare(const TrialSource& source) {
  net::Stopper stopper;
  source_ = source;
  kubeapi::Discovery discovery(client_, world_.clock);
  ASSAY_TRY(const auto found, discovery.find(source.kind, stopper));
  if (!found)
    return bad_input(fmt::format("the cluster has no {} of {}: is its operator installed?",
                                 source.kind.kind, source.kind.group));
  resource_ = *found;
  kubeapi::ObjectName original{
      .resource = resource_, .name_space = settings_.copy.name_space, .name = source.name};
  const auto meta = kubeapi::get_meta(client_, original, stopper);
  if (meta && *meta) original.uid = (*meta)->uid;
  settings_.copy.original = original;
  return {};
}

std::optional<std::string> TrialRunner::lacks_room(const Choice& choice) {
  if (!nodes_) {
    net::Stopper stopper;
    const auto listed =
        kubeapi::list<kubeapi::Node>(client_, {.resource = kubeapi::nodes()}, stopper);
    nodes_ = listed && *listed ? (*listed)->items : std::vector<kubeapi::Node>();
  }
  const auto copy = make_trial_copy(source_, choice, settings_.copy, 0);
  if (nodes_->empty() || !copy) return std::nullopt;  // the trial will tell
  double room = 0;
  bool has_kind = false;
  for (const auto& node : *nodes_) {
    const auto label = node.labels.find(settings_.copy.node_label);
    if (!choice.kind.empty() && (label == node.labels.end() || label->second != choice.kind))
      continue;
    has_kind = true;
    const auto amount = node.allocatable.find(settings_.copy.resource);
    if (amount != node.allocatable.end() && !node.unschedulable)
      room += std::floor(amount->second / copy->each + 1e-9);
  }
  if (!has_kind)
    return fmt::format("no node has the label {}={}", settings_.copy.node_label, choice.kind);
  if (room >= copy->workers) return std::nullopt;
  return fmt::format("no node has so many {}", settings_.copy.resource);
}

Result<TrialResult> TrialRunner::run(const Choice& choice) {
  TrialResult result{.choice = choice};
  CopySettings settings = settings_.copy;
  settings.deadline = settings_.patience + settings_.warm_up + settings_.time + settings_.patience;
  ASSAY_TRY(const TrialCopy copy, make_trial_copy(source_, choice, settings, ++number_));
  result.object = copy.name;
  world_.doing(fmt::format("trying {} as {}", name_of(choice), copy.name));
  auto refusal = create(copy, result);
  auto done = !refusal   ? Result<TrialResult>(fail(refusal.error()))
              : *refusal ? Result<TrialResult>(std::move(**refusal))
                         : watch(copy, std::move(result));
  ASSAY_CHECK(remove(copy.name));
  return done;
}

/// An answer to its creation was lost on the way, and the second try found it there.
bool TrialRunner::is_ours(const TrialCopy& copy) {
  net::Stopper stopper;
  const auto meta = kubeapi::get_meta(
      client_, {.resource = resource_, .name_space = settings_.copy.name_space, .name = copy.name},
      stopper);
  if (!meta || !*meta) return false;
  const auto label = (*meta)->labels.find(kCopyLabel);
  return label != (*meta)->labels.end() && label->second == copy.name;
}

/// Nothing: it is there. A result: the cluster does not want it.
Result<std::optional<TrialResult>> TrialRunner::create(const TrialCopy& copy, TrialResult result) {
  net::Stopper stopper;
  const Until until(world_, settings_.patience);
  while (world_.wanted()) {
    const auto written = kubeapi::create_object(client_, resource_, settings_.copy.name_space,
                                                copy.manifest, stopper);
    if (!written) {
      if (!until.wait(settings_.step)) return fail(written.error());
      continue;
    }
    if (written->outcome == Outcome::done || (written->outcome == Outcome::taken && is_ours(copy)))
      return std::optional<TrialResult>();
    if (written->outcome == Outcome::throttled &&
        until.wait(std::max<Nanoseconds>(settings_.step, written->retry_after)))
      continue;
    if (written->outcome != Outcome::refused) return refused(written->why);
    const bool quota = written->why.find("exceeded quota") != std::string::npos;
    result.end = quota ? TrialEnd::no_room : TrialEnd::failed;
    result.reason = written->why;
    return std::optional(std::move(result));
  }
  return interrupted();
}

/// What is known while a copy runs.
struct TrialRunner::Running {
  TrialPods pods;
  std::vector<Pod> now = {};
  std::optional<Timestamp> silent = {};  ///< since when the API server does not answer
  int looks = 0;
};

Result<void> TrialRunner::look(Running& running) {
  net::Stopper stopper;
  auto found = running.pods.list(stopper);
  ++running.looks;
  if (found) {
    running.silent.reset();
    running.now = std::move(*found);
    return {};
  }
  const Timestamp now = world_.clock.now();
  if (!running.silent) running.silent = now;
  if (!world_.wanted()) return interrupted();
  if (now - *running.silent > settings_.patience) return fail(found.error());
  return {};
}

/// A result that is not measured yet, unless its end says so.
Result<TrialResult> TrialRunner::watch(const TrialCopy& copy, TrialResult result) {
  Running running{.pods = TrialPods(client_, settings_.copy.name_space, copy.name)};
  ASSAY_TRY(const bool started, start(copy, running, result));
  if (!started) return result;
  for (const auto& pod : running.now) {
    result.pods.push_back(pod.name);
    if (std::find(result.nodes.begin(), result.nodes.end(), pod.node) == result.nodes.end())
      result.nodes.push_back(pod.node);
  }
  result.begin = world_.clock.wall() + settings_.warm_up;
  ASSAY_TRY(const bool stayed, stay(running, result));
  if (!stayed) return result;
  result.end_time = world_.clock.wall();
  ASSAY_CHECK(measure(running, result));
  return result;
}

/// Whether all pods run.
Result<bool> TrialRunner::start(const TrialCopy& copy, Running& running, TrialResult& result) {
  net::Stopper stopper;
  const Until until(world_, settings_.patience);
  while (true) {
    ASSAY_CHECK(look(running));
    const bool complete = static_cast<double>(running.now.size()) >= copy.pods;
    if (complete && all_are(running.now, {PodPhase::running, PodPhase::succeeded})) return true;
    if (failed_of(running.now) != nullptr) {
      tell_end(running, result);
      return false;
    }
    const auto trouble = running.pods.trouble(stopper);
    if (trouble.hopeless || !until.wait(settings_.step)) {
      result.end = trouble.unschedulable ? TrialEnd::no_room : TrialEnd::failed;
      result.reason =
          trouble.text.empty() ? "no pod was made; does its operator run?" : trouble.text;
      return false;
    }
    if (!world_.wanted()) return interrupted();
  }
}

/// Whether its pods stayed to the end of the time, or ended well before.
Result<bool> TrialRunner::stay(Running& running, TrialResult& result) {
  net::Stopper stopper;
  const Until until(world_, settings_.warm_up + settings_.time);
  while (until.wait(settings_.step)) {
    if (!world_.wanted()) return interrupted();
    ASSAY_CHECK(look(running));
    if (running.silent) continue;
    const bool fewer = running.now.size() < result.pods.size();
    bool lost = false;
    if (fewer || running.looks % kLooksPerNode == 0)
      for (const auto& node : result.nodes) lost |= running.pods.is_lost(node, stopper);
    if (lost || fewer) {
      result.end = TrialEnd::lost;
      result.reason = lost ? "its node disappeared" : "somebody deleted its pods";
      return false;
    }
    if (failed_of(running.now) != nullptr) {
      tell_end(running, result);
      return false;
    }
    if (all_are(running.now, {PodPhase::succeeded})) break;
  }
  return true;
}

void TrialRunner::tell_end(Running& running, TrialResult& result) {
  net::Stopper stopper;
  const Pod& pod = *failed_of(running.now);
  if (running.pods.is_lost(pod.node, stopper)) {
    result.end = TrialEnd::lost;
    result.reason = fmt::format("its node {} disappeared", pod.node);
    return;
  }
  result.end = TrialEnd::failed;
  result.reason = running.pods.trouble(stopper).text;
  if (result.reason.empty()) result.reason = "it failed";
  const std::string words = running.pods.last_words(pod.name, stopper);
  if (!words.empty()) result.reason += ": " + words;
}

Result<void> TrialRunner::measure(Running& running, TrialResult& result) {
  net::Stopper stopper;
  if (queries_ != nullptr) ASSAY_CHECK(ask_prometheus(*queries_, settings_, result, stopper));
  if (settings_.measure.metric.empty() && !settings_.measure.log_pattern.empty())
    ASSAY_CHECK(measure_log(running, result));
  const double rate = result.throughput.value;
  if (!(rate > 0)) {
    result.end = TrialEnd::failed;
    result.reason = fmt::format("its throughput could not be measured: {} has no numbers of it",
                                result.source.empty() ? "nobody" : result.source);
    return {};
  }
  const double price = price_of(settings_.prices, result.choice);
  if (price > 0) result.unit_cost = price / 3600 / rate;
  if (result.watts) result.unit_joules = *result.watts / rate;
  return {};
}

Result<void> TrialRunner::measure_log(Running& running, TrialResult& result) {
  net::Stopper stopper;
  ASSAY_TRY(const auto pattern, LogPattern::compile(settings_.measure.log_pattern));
  result.source = "its log";
  double variance = 0;
  for (const auto& pod : result.pods) {
    const auto log = running.pods.log(pod, stopper);
    if (!log) continue;
    const auto rate = rate_of(numbers_in(*log, pattern), settings_.measure.log_counts, result.begin,
                              result.end_time);
    if (!rate) continue;
    result.throughput.value += rate->value;
    variance += std::pow(rate->value * rate->sd, 2);
  }
  if (result.throughput.value > 0)
    result.throughput.sd = std::sqrt(variance) / result.throughput.value;
  return {};
}

/// Also when nothing is wanted any more: what was made would stay for ever.
Result<void> TrialRunner::remove(const std::string& name) {
  net::Stopper stopper;
  client_.set_wanted([] { return true; });
  const kubeapi::ObjectName object{
      .resource = resource_, .name_space = settings_.copy.name_space, .name = name};
  Result<void> done;
  const Until until(world_, settings_.patience);
  bool asked = false;
  while (!asked) {
    const auto written =
        kubeapi::delete_object(client_, object, kubeapi::Propagation::foreground, stopper);
    asked = written && (written->outcome == Outcome::done || written->outcome == Outcome::gone);
    if (asked || until.wait(settings_.step)) continue;
    done =
        refused(fmt::format("{} could not be removed ({}); 'assay cluster trial --clean' does "
                            "it later, and the cluster ends it after its deadline",
                            name, written ? written->why : written.error().message));
    break;
  }
  // The next one needs its room.
  for (const Until gone(world_, kGonePatience); asked && !gone.over();) {
    const auto meta = kubeapi::get_meta(client_, object, stopper);
    if (meta && !*meta) break;
    gone.wait(settings_.step);
  }
  client_.set_wanted(world_.wanted);
  return done;
}

}  // namespace assay::cluster
