// SPDX-License-Identifier: Apache-2.0
#include "trial_copy.h"
#include "trial_measuring.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include <assay/base/wording.h>
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
/// Of last words, what a node keeps of them for sure.
constexpr size_t kKept = 200;
/// A node may say for a moment that it is not ready while its pods go on.
constexpr Nanoseconds kUnreadyPatience = std::chrono::seconds(20);

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

/// Also those of pods that do not run yet.
std::set<std::string> nodes_of(const TrialResult& result, const std::vector<Pod>& pods) {
  std::set<std::string> nodes(result.nodes.begin(), result.nodes.end());
  for (const auto& pod : pods)
    if (!pod.node.empty()) nodes.insert(pod.node);
  return nodes;
}

}  // namespace

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

Result<void> TrialRunner::create(Copy& copy) {
  net::Stopper stopper;
  if (world_.clock.now() < copy.next) return {};
  const auto written = kubeapi::create_object(client_, resource_, settings_.copy.name_space,
                                              copy.made.manifest, stopper);
  if (!written) return is_over(copy) ? Result<void>(fail(written.error())) : Result<void>();
  if (written->outcome == Outcome::done ||
      (written->outcome == Outcome::taken && is_ours(copy.made))) {
    copy.phase = Copy::Phase::starting;
    copy.until = world_.clock.now() + settings_.patience;
    return start(copy);
  }
  if (written->outcome == Outcome::throttled && !is_over(copy)) {
    copy.next = world_.clock.now() + written->retry_after;
    return {};
  }
  if (written->outcome != Outcome::refused) return refused(written->why);
  const bool quota = written->why.find("exceeded quota") != std::string::npos;
  copy.result.end = quota ? without_room(copy, written->why) : TrialEnd::failed;
  copy.result.reason = written->why;
  finish(copy);
  return {};
}

Result<void> TrialRunner::look(Copy& copy) {
  net::Stopper stopper;
  auto found = copy.pods.list(stopper);
  ++copy.looks;
  if (found) {
    copy.silent.reset();
    copy.now = std::move(*found);
    if (history_ != nullptr) history_->look(copy.result, copy.now);
    return {};
  }
  const Timestamp now = world_.clock.now();
  if (!copy.silent) copy.silent = now;
  if (!world_.wanted()) return interrupted();
  if (now - *copy.silent > settings_.patience) return fail(found.error());
  return {};
}

/// Until all pods run.
Result<void> TrialRunner::start(Copy& copy) {
  net::Stopper stopper;
  ASSAY_CHECK(look(copy));
  if (copy.silent) return {};
  const bool complete = static_cast<double>(copy.now.size()) >= copy.made.pods;
  if (complete && all_are(copy.now, {PodPhase::running, PodPhase::succeeded})) {
    for (const auto& pod : copy.now) {
      copy.result.pods.push_back(pod.name);
      auto& nodes = copy.result.nodes;
      if (std::find(nodes.begin(), nodes.end(), pod.node) == nodes.end()) nodes.push_back(pod.node);
    }
    copy.result.begin = world_.clock.wall() + settings_.warm_up;
    copy.phase = Copy::Phase::staying;
    copy.measured_from = world_.clock.now() + settings_.warm_up;
    copy.until = copy.measured_from + settings_.time;
    world_.doing(fmt::format("{} runs on {}", shown(copy.result.choice),
                             fmt::join(copy.result.nodes, ", ")));
    return {};
  }
  if (failed_of(copy.now) != nullptr) {
    tell_end(copy);
    return {};
  }
  if (copy.looks % kLooksPerNode == 0 && has_lost_node(copy, kUnreadyPatience)) {
    lose_node(copy);
    return {};
  }
  const auto trouble = copy.pods.trouble(stopper);
  if (!trouble.hopeless && !is_over(copy)) return {};
  copy.result.end = trouble.unschedulable ? without_room(copy, trouble.text) : TrialEnd::failed;
  copy.result.reason = trouble.text;
  if (trouble.text.empty())
    copy.result.reason = copy.now.empty()
                             ? "no pod was made; does its operator run?"
                             : "its pods did not start; --patience says how long they may take";
  finish(copy);
  return {};
}

/// Whether a node of its pods is gone, or has not been ready for so long.
bool TrialRunner::has_lost_node(Copy& copy, Nanoseconds patience) {
  net::Stopper stopper;
  const Timestamp now = world_.clock.now();
  const auto before = std::exchange(copy.unready, {});
  copy.lost_nodes.clear();
  for (const auto& node : nodes_of(copy.result, copy.now)) {
    const NodeHealth health = copy.pods.health(node, stopper);
    if (health == NodeHealth::well) continue;
    const auto known = before.find(node);
    const Timestamp since = known == before.end() ? now : known->second;
    copy.unready[node] = since;
    if (health == NodeHealth::gone || now - since >= patience) copy.lost_nodes.insert(node);
  }
  return !copy.lost_nodes.empty();
}

void TrialRunner::lose_node(Copy& copy) {
  copy.result.end = TrialEnd::lost;
  copy.result.reason = fmt::format("its node {} disappeared", fmt::join(copy.lost_nodes, ", "));
  finish(copy);
}

/// Ends it when a pod that was there is gone, or its node.
bool TrialRunner::lose_if_gone(Copy& copy) {
  const bool missing =
      std::any_of(copy.result.pods.begin(), copy.result.pods.end(), [&](const std::string& name) {
        return std::none_of(copy.now.begin(), copy.now.end(),
                            [&](const Pod& pod) { return pod.name == name; });
      });
  if ((missing || copy.looks % kLooksPerNode == 0) &&
      has_lost_node(copy, missing ? Nanoseconds() : kUnreadyPatience)) {
    lose_node(copy);
    return true;
  }
  if (!missing) return false;
  copy.result.end = TrialEnd::lost;
  copy.result.reason = "somebody deleted its pods";
  finish(copy);
  return true;
}

/// Until its time is over, or its pods have ended well.
Result<void> TrialRunner::stay(Copy& copy) {
  // Also at the end: an API server that is away then would not tell its log.
  ASSAY_CHECK(look(copy));
  if (copy.silent) return {};
  if (lose_if_gone(copy)) return {};
  if (failed_of(copy.now) != nullptr) {
    tell_end(copy);
    return {};
  }
  return is_over(copy) || all_are(copy.now, {PodPhase::succeeded}) ? conclude(copy)
                                                                   : Result<void>();
}

void TrialRunner::tell_end(Copy& copy) {
  net::Stopper stopper;
  const Pod& pod = *failed_of(copy.now);
  if (copy.pods.health(pod.node, stopper) != NodeHealth::well) {
    copy.lost_nodes = {pod.node};
    lose_node(copy);
    return;
  }
  copy.result.end = TrialEnd::failed;
  copy.result.reason = copy.pods.trouble(stopper).text;
  if (copy.result.reason.empty()) copy.result.reason = "it failed";
  const std::string words = copy.pods.last_words(pod.name, stopper);
  // The node may have told them too, or as many of them as it keeps.
  const auto told = ": " + words.substr(0, kKept) + ")";
  if (!words.empty() && !copy.result.reason.ends_with(told))
    copy.result.reason += ": " + in_quotes(words);
  finish(copy);
}

Result<void> TrialRunner::conclude(Copy& copy) {
  const Nanoseconds measured = world_.clock.now() - copy.measured_from;
  // Others know the time as it is now, also when somebody has set the clock in between.
  copy.result.end_time = world_.clock.wall();
  copy.result.begin = copy.result.end_time - measured;
  if (measured <= Nanoseconds(0)) {
    copy.result.end = TrialEnd::failed;
    copy.result.reason = "it ended within its warm-up; --warm-up says how long that is";
  } else {
    ASSAY_CHECK(measure_trial(settings_, {copy.pods, queries_, history_}, copy.result));
  }
  finish(copy);
  return {};
}

/// Also when nothing is wanted any more: what was made would stay for ever.
void TrialRunner::remove(Copy& copy) {
  net::Stopper stopper;
  const kubeapi::ObjectName object{
      .resource = resource_, .name_space = settings_.copy.name_space, .name = copy.made.name};
  client_.set_wanted([] { return true; });
  if (!copy.deleted) {
    const auto written =
        kubeapi::delete_object(client_, object, kubeapi::Propagation::foreground, stopper);
    copy.deleted =
        written && (written->outcome == Outcome::done || written->outcome == Outcome::gone);
    if (copy.deleted) {
      copy.until = world_.clock.now() + kGonePatience;
    } else if (is_over(copy)) {
      copy.phase = Copy::Phase::gone;
      copy.broken = true;
      error_ = Error{
          ErrorKind::environment,
          fmt::format("{} could not be removed ({}); 'assay cluster trial --clean' does it later, "
                      "and the cluster ends it after its deadline",
                      copy.made.name, written ? written->why : written.error().message)};
    }
  }
  // The next one needs its room.
  if (copy.deleted) {
    if (copy.looks++ % kLooksPerNode == 0) copy.deserted = has_lost_node(copy, kUnreadyPatience);
    std::erase_if(copy.now, [&](const Pod& pod) {
      return copy.deserted && copy.lost_nodes.contains(pod.node) &&
             copy.pods.remove_at_once(pod, stopper);
    });
    const auto meta = kubeapi::get_meta(client_, object, stopper);
    if ((meta && !*meta) || is_over(copy)) copy.phase = Copy::Phase::gone;
  }
  client_.set_wanted(world_.wanted);
}

}  // namespace assay::cluster
