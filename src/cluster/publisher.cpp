// SPDX-License-Identifier: Apache-2.0
#include "publisher.h"

#include <algorithm>
#include <fmt/format.h>
#include <thread>
#include <utility>

#include <assay/kubeapi/client.h>

namespace assay::cluster {
namespace {

using kubeapi::Outcome;

constexpr double kMaterial = 1;
constexpr size_t kMostTold = 50;
/// After which somebody may have given a right that was lacking, and how many find it out a round.
constexpr Nanoseconds kForbiddenAge = std::chrono::minutes(10);
constexpr size_t kMostAgain = 4;
constexpr int kMostFailures = 3;  ///< in a row
constexpr Milliseconds kLongestNap{100};

}  // namespace

Publisher::Publisher(kubeapi::Client& client, kubeapi::AnnotationOptions options, RenderRules rules,
                     kubeapi::RateLimiter& limiter, const Clock& clock, Tell tell)
    : writer_(client, std::move(options)),
      rules_(std::move(rules)),
      limiter_(limiter),
      clock_(clock),
      tell_(std::move(tell)) {}

template <class Table>
void Publisher::try_again(Table& table, Timestamp now) const {
  std::vector<Published*> again;
  const auto is_gone = [](const auto& state) {
    if constexpr (requires { state.gone; }) return state.gone;
    return false;
  };
  for (auto& [key, state] : table)
    if (auto& published = state.published;
        !is_gone(state) && published.forbidden && now - *published.forbidden >= kForbiddenAge)
      again.push_back(&published);
  if (!right_came_ && again.size() > kMostAgain) {
    const auto few = again.begin() + kMostAgain;
    std::partial_sort(again.begin(), few, again.end(),
                      [](const auto* a, const auto* b) { return *a->forbidden < *b->forbidden; });
    again.erase(few, again.end());
  }
  for (auto* published : again) published->at.reset();
}

template <class T>
void Publisher::consider(T& state, What what, const std::string& key, Timestamp now) {
  auto& published = state.published;
  published.score = change(published, figures_of(state));
  if (published.score < kMaterial) {
    published.due.reset();
    return;
  }
  if (!published.due) published.due = now;
  since_.push_back(*published.due);
  due_.push_back({published.failed, published.score, what, key});
}

void Publisher::plan(Tracker& tracker, bool read_back) {
  const auto now = clock_.now();
  const auto is_ready = [&](const auto& state) { return state.read_back || !read_back; };
  due_.clear();
  since_.clear();
  try_again(tracker.nodes(), now);
  try_again(tracker.pods(), now);
  try_again(tracker.jobs(), now);
  for (auto& [name, node] : tracker.nodes())
    if (is_ready(node)) consider(node, What::node, name, now);
  for (auto& [uid, pod] : tracker.pods())
    if (is_ready(pod) && (pod.uses.cores.count() || !pod.gpus.empty()))
      consider(pod, What::pod, uid, now);
  for (auto& [uid, job] : tracker.jobs())
    if (is_ready(job) && !job.gone) consider(job, What::job, uid, now);
  std::stable_sort(due_.begin(), due_.end(), [](const Due& a, const Due& b) {
    return std::pair(!a.failed, a.score) < std::pair(!b.failed, b.score);
  });
  right_came_ = false;
  measure_waiting(now);
}

void Publisher::measure_waiting(Timestamp now) {
  writes_.waiting = due_.size();
  writes_.stalest_seconds = 0;
  for (const auto since : since_)
    writes_.stalest_seconds = std::max(writes_.stalest_seconds, seconds(now - since));
}

void Publisher::tell_once(const std::string& sentence) {
  if (told_.size() >= kMostTold || std::find(told_.begin(), told_.end(), sentence) != told_.end())
    return;
  told_.push_back(sentence);
  tell_(sentence);
}

template <class T>
Result<bool> Publisher::write_one(T& state, net::Stopper& stopper) {
  const auto figures = figures_of(state);
  const auto written = writer_.write(state.object, annotations_of(state, rules_), stopper);
  auto& published = state.published;
  const bool forbidden = written && written->outcome == Outcome::forbidden;
  right_came_ |= published.forbidden && written && written->outcome == Outcome::done;
  published.failed = !written || forbidden;
  if (written && written->outcome != Outcome::throttled)
    published.forbidden = forbidden ? std::optional(clock_.now()) : std::nullopt;
  if (!written) {
    ++writes_.unanswered;
    writes_.why = written.error().message;
    return fail(written.error());
  }
  ++writes_.by_outcome.at(static_cast<size_t>(written->outcome));
  if (written->outcome == Outcome::throttled) {
    limiter_.hold(std::max(written->retry_after, Milliseconds(1000)));
    return false;
  }
  if (!written->why.empty() && written->outcome != Outcome::gone) {
    writes_.why = written->why;
    tell_once(fmt::format("cannot annotate {}: {}", state.object.resource.name(), written->why));
  }
  // Also of what was refused: the same would be refused again, unless it was a right that lacked.
  remember(published, figures, clock_.now());
  return true;
}

Result<bool> Publisher::write_one(Tracker& tracker, const Due& due, net::Stopper& stopper) {
  const auto with = [&](auto& table) -> Result<bool> {
    const auto at = table.find(due.key);
    return at == table.end() ? Result<bool>(true) : write_one(at->second, stopper);
  };
  switch (due.what) {
    case What::node:
      return with(tracker.nodes());
    case What::pod:
      return with(tracker.pods());
    case What::job:
      return with(tracker.jobs());
  }
  return true;
}

Result<void> Publisher::write(Tracker& tracker, const std::function<bool()>& more,
                              net::Stopper& stopper) {
  size_t failed = 0;
  int in_a_row = 0;
  while (!due_.empty() && !stopper.stopped() && more()) {
    if (const auto wait = limiter_.take(); wait > Milliseconds(0)) {
      std::this_thread::sleep_for(std::min(wait, kLongestNap));
      continue;
    }
    const auto done = write_one(tracker, due_.back(), stopper);
    if (!done && ++in_a_row == kMostFailures) return fail(done.error());
    if (done) in_a_row = 0;
    if (!done) ++failed;
    if (!done || *done) due_.pop_back();
    writes_.waiting = due_.size() + failed;
  }
  if (writes_.waiting == 0) writes_.stalest_seconds = 0;
  return {};
}

}  // namespace assay::cluster
