// SPDX-License-Identifier: Apache-2.0
#include "manifest_json.h"
#include "trial_copy.h"
#include "trial_room.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>

#include <assay/cluster/trial_history.h>
#include <assay/cluster/trial_runner.h>
#include <assay/kubeapi/follower.h>
#include <assay/kubeapi/writes.h>
#include <assay/net/http_client.h>

namespace assay::cluster {
namespace {

/// Room costs a request for each node.
constexpr Nanoseconds kRoomPace = std::chrono::seconds(10);
/// As the manifests of Assay bring it.
constexpr const char* kTrialPriority = "assay-trial";

bool has_trial_priority(kubeapi::Client& client, net::Stopper& stopper) {
  const auto found = client.call(
      {.path = fmt::format("/apis/scheduling.k8s.io/v1/priorityclasses/{}", kTrialPriority)},
      stopper);
  return found && found->ok();
}

bool is_of_kind(const kubeapi::Node& node, const Choice& choice, const std::string& node_label) {
  if (choice.kind.empty()) return true;
  const auto label = node.labels.find(node_label);
  return label != node.labels.end() && label->second == choice.kind;
}

}  // namespace

Tried tried_of(const TrialResult& result, size_t choice) {
  return {.choice = choice,
          .end = result.end,
          .throughput = result.throughput.value,
          .error = result.throughput.sd};
}

TrialRunner::TrialRunner(kubeapi::Client& client, promapi::Queries* queries, TrialWorld world,
                         TrialSettings settings, TrialHistory* history)
    : client_(client),
      queries_(queries),
      history_(history),
      world_(std::move(world)),
      settings_(std::move(settings)),
      // Not the same as that of a call before.
      number_(static_cast<uint64_t>(unix_ns(world_.clock.now())) / 1'000'000) {
  client_.set_wanted(world_.wanted);
}

TrialRunner::~TrialRunner() = default;

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
  if (settings_.copy.priority_class.empty() && has_trial_priority(client_, stopper))
    settings_.copy.priority_class = kTrialPriority;
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
  std::set<std::string> kinds;
  for (const auto& node : *nodes_) {
    const auto label = node.labels.find(settings_.copy.node_label);
    if (label != node.labels.end()) kinds.insert(label->second);
    if (!is_of_kind(node, choice, settings_.copy.node_label)) continue;
    has_kind = true;
    const auto amount = node.allocatable.find(settings_.copy.resource);
    if (amount != node.allocatable.end() && !node.unschedulable)
      room += std::floor(amount->second / copy->each + 1e-9);
  }
  if (!has_kind)
    return fmt::format("no node has the label {}={}{}", settings_.copy.node_label, choice.kind,
                       kinds.empty()
                           ? ", nor any other value of it (--node-label names another label)"
                           : fmt::format("; there are {}", fmt::join(kinds, ", ")));
  if (room >= copy->workers) return std::nullopt;
  return fmt::format("no node has so many {}", settings_.copy.resource);
}

/// What it is without room: there may be some later, where a node could hold it.
TrialEnd TrialRunner::without_room(const Copy& copy, const std::string& why) {
  const Choice& choice = copy.result.choice;
  const auto scarce = insufficient_in(why);
  // A Job that is refused itself is one, however many pods it would make.
  const double wanted = copy.phase == Copy::Phase::creating ? 1 : copy.made.workers;
  if (scarce.empty()) return quota_may_allow(why, wanted) ? TrialEnd::busy : TrialEnd::no_room;
  if (lacks_room(choice) || nodes_->empty()) return TrialEnd::no_room;
  const auto manifest = nlohmann::json::parse(copy.made.manifest, nullptr, false);
  const auto holds = [&](const kubeapi::Node& node) {
    return is_of_kind(node, choice, settings_.copy.node_label) &&
           std::all_of(scarce.begin(), scarce.end(), [&](const std::string& resource) {
             const auto amount = node.allocatable.find(resource);
             return amount != node.allocatable.end() &&
                    most_requested(manifest, resource) <= amount->second;
           });
  };
  return std::any_of(nodes_->begin(), nodes_->end(), holds) ? TrialEnd::busy : TrialEnd::no_room;
}

std::string TrialRunner::shown(const Choice& choice) const {
  return name_of(choice, settings_.copy.resource);
}

bool TrialRunner::is_over(const Copy& copy) const {
  return world_.clock.now() >= copy.until;
}

bool TrialRunner::may_begin(const Choice& choice) {
  if (error_) return false;
  if (copies_.empty()) return true;
  if (is_full() || world_.clock.now() < next_room_) return false;
  const auto copy = make_trial_copy(source_, choice, settings_.copy, 0);
  if (!copy) return false;
  RoomWanted wanted{.resource = settings_.copy.resource,
                    .node_label = settings_.copy.node_label,
                    .kind = choice.kind,
                    .pods = copy->workers,
                    .each = copy->each};
  for (const auto& other : copies_) {
    // Where it will be is not known yet.
    if (other->phase < Copy::Phase::staying) return false;
    if (settings_.copy.shares_nodes) continue;
    wanted.avoided.insert(other->result.nodes.begin(), other->result.nodes.end());
  }
  net::Stopper stopper;
  const auto room = has_room(client_, wanted, stopper);
  next_room_ = world_.clock.now() + kRoomPace;
  if (room) return *room;
  if (!room_noted_ && world_.wanted())
    world_.doing("one after the other, since room is not known: " + room.error().message);
  room_noted_ = true;
  return false;
}

void TrialRunner::begin(const Choice& choice) {
  CopySettings settings = settings_.copy;
  settings.deadline = settings_.patience + settings_.warm_up + settings_.time + settings_.patience;
  const auto made = make_trial_copy(source_, choice, settings, ++number_);
  if (!made) {
    error_ = made.error();
    return;
  }
  auto copy = std::make_unique<Copy>(
      Copy{.made = *made, .pods = TrialPods(client_, settings.name_space, made->name)});
  copy->result.choice = choice;
  copy->result.object = made->name;
  copy->until = world_.clock.now() + settings_.patience;
  world_.doing(fmt::format("trying {} as {}", shown(choice), made->name));
  if (history_ != nullptr) history_->begin(copy->result, settings_, *made);
  copies_.push_back(std::move(copy));
}

Result<std::vector<TrialResult>> TrialRunner::step() {
  std::vector<TrialResult> ended;
  for (auto& copy : copies_) advance(*copy);
  std::erase_if(copies_, [&](const auto& copy) {
    if (copy->phase != Copy::Phase::gone) return false;
    if (!copy->broken) ended.push_back(std::move(copy->result));
    next_room_ = {};
    return true;
  });
  if (ended.empty() && copies_.empty() && error_) {
    const Error error = *error_;
    error_.reset();
    return fail(error);
  }
  return ended;
}

Result<TrialResult> TrialRunner::run(const Choice& choice) {
  begin(choice);
  while (true) {
    ASSAY_TRY(auto ended, step());
    if (!ended.empty()) return std::move(ended.front());
    pause();
  }
}

void TrialRunner::advance(Copy& copy) {
  using Phase = Copy::Phase;
  Result<void> done;
  if (copy.phase < Phase::removing && (error_ || !world_.wanted()))
    done = Result<void>(interrupted());
  else if (copy.phase == Phase::creating)
    done = create(copy);
  else if (copy.phase == Phase::starting)
    done = start(copy);
  else if (copy.phase == Phase::staying)
    done = stay(copy);
  if (!done) give_up(copy, done.error());
  if (copy.phase == Phase::removing) remove(copy);
}

void TrialRunner::give_up(Copy& copy, const Error& error) {
  copy.broken = true;
  if (!error_) error_ = error;
  finish(copy);
}

/// Whatever became of it, it is removed now.
void TrialRunner::finish(Copy& copy) {
  if (history_ != nullptr) copy.result.session = history_->end(copy.result, copy.broken);
  copy.phase = Copy::Phase::removing;
  copy.until = world_.clock.now() + settings_.patience;
}

}  // namespace assay::cluster
