// SPDX-License-Identifier: Apache-2.0
#include "state.h"

#include <fmt/format.h>

namespace assay::serve {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kBridged(15);
constexpr std::chrono::seconds kOldest(30);  ///< also while an answer is awaited

}  // namespace

State::State(const ServiceSettings& settings, Tell tell)
    : settings_(settings), tell_(std::move(tell)), source_(settings.model_file, settings.shared) {
  if (!settings.prometheus.url.empty()) queries_.emplace(settings.prometheus);
  refresh();
  thread_ = std::jthread([this](const std::stop_token& stop) { keep_reading(stop); });
}

State::~State() {
  thread_.request_stop();
  stopper_.stop();
}

std::shared_ptr<const Snapshot> State::now() const {
  std::shared_ptr<const Snapshot> found;
  {
    const Lock lock(mutex_);
    found = snapshot_;
  }
  // Whoever reads anew may hang; what it last said is not true for ever.
  const auto age = Clock::now() - found->read;
  if (!queries_ || !found->problem.empty() || age <= kOldest) return found;
  auto old = std::make_shared<Snapshot>(*found);
  old->problem = fmt::format("the nodes were asked for {} s ago, and not since",
                             std::chrono::duration_cast<std::chrono::seconds>(age).count());
  return old;
}

void State::keep_reading(const std::stop_token& stop) {
  std::mutex waiting;
  while (!stop.stop_requested()) {
    {
      std::unique_lock lock(waiting);
      stopped_.wait_for(lock, stop, settings_.interval, [] { return false; });
    }
    if (!stop.stop_requested()) refresh();
  }
}

/// The same is not said again and again.
void State::say(const std::string& sentence) {
  if (sentence == last_said_) return;
  last_said_ = sentence;
  tell_(sentence.empty() ? "all is well again" : sentence);
}

/// While they cannot be read, those of before stay.
void State::read_devices() {
  if (!settings_.find_devices) return;
  auto found = settings_.find_devices();
  devices_warning_ = found ? "" : found.error().message;
  if (!found || *found == devices_) return;
  devices_ = std::move(*found);
  source_.forget();
}

void State::read_predictor() {
  const auto text = source_.changed();
  if (text && !*text) return;
  Result<predict::Predictor> read = !text ? Result<predict::Predictor>(fail(text.error()))
                                          : predict::Predictor::parse(source_.name(), **text);
  if (read) {
    predictor_ = std::make_shared<const predict::Predictor>(read->with(devices_));
    predictor_problem_.clear();
    warning_.clear();
  } else if (!predictor_) {
    predictor_problem_ = read.error().message;
  } else {
    warning_ = fmt::format("{}; the older one is still used", read.error().message);
  }
}

void State::read_fleet(Snapshot& next) {
  if (!queries_) {
    auto fleet = placement::fleet_of(predictor_->devices(), settings_.loads);
    if (!fleet)
      next.problem = fleet.error().message;
    else
      next.fleet = std::move(*fleet);
    return;
  }
  const auto live = placement::read_live(*queries_, &stopper_);
  if (live) {
    fleet_ = placement::join(*live, settings_.join);
    fleet_time_ = Clock::now();
  }
  // A moment without Prometheus is bridged by what it said last.
  const bool fresh = fleet_time_ && Clock::now() - *fleet_time_ <= kBridged;
  if (fresh)
    next.fleet = fleet_;
  else
    next.problem = live.error().message;
}

void State::refresh() {
  auto next = std::make_shared<Snapshot>();
  read_devices();
  read_predictor();
  next->predictor = predictor_;
  next->problem = predictor_problem_;
  if (predictor_) read_fleet(*next);
  next->read = Clock::now();
  const std::string& warning = warning_.empty() ? devices_warning_ : warning_;
  say(next->problem.empty() ? warning : next->problem);
  const Lock lock(mutex_);
  snapshot_ = std::move(next);
}

}  // namespace assay::serve
