// SPDX-License-Identifier: Apache-2.0
#include "own_cost.h"

#include <algorithm>
#include <fmt/format.h>

#include <assay/sampler/sampler.h>

namespace assay::sampler {
namespace {

constexpr Nanoseconds kSlowPace = std::chrono::seconds(1);
constexpr Nanoseconds kLongestInterval = std::chrono::seconds(1);
constexpr int kDearBeatsAllowed = 10;

}  // namespace

Sampler::Sampler(probes::Probes probes, const Clock& clock, SampleSink& sink, Nanoseconds interval)
    : clock_(clock), sink_(sink), interval_(interval), own_cost_(std::make_unique<OwnCost>()) {
  slots_.reserve(probes.size());
  for (auto& probe : probes) slots_.push_back({std::move(probe), {}, false});
  stats_.interval = interval;
}

Sampler::~Sampler() = default;

void Sampler::open() {
  next_ = clock_.now();
  own_cost_due_ = next_;
  cpu_at_open_ = own_cost_->cpu_seconds();
  own_cpu_ = sink_.declare(
      describe(MetricId::profiler_cpu_seconds_total, Scope::profiler, "getrusage of assay"));
  own_memory_ = sink_.declare(
      describe(MetricId::profiler_memory_bytes, Scope::profiler, "/proc/self/statm of assay"));
  for (auto& slot : slots_) {
    slot.due = next_;
    if (auto opened = slot.probe->open(sink_); !opened) {
      slot.failed = true;
      not_measured_.push_back({std::string(slot.probe->name()), opened.error().message});
      continue;
    }
    for (auto& gap : slot.probe->not_measured()) not_measured_.push_back(std::move(gap));
  }
}

void Sampler::beat() {
  const Timestamp began = clock_.now();
  // Half an interval of room, so that a slow probe's turn does not slip by a beat each second.
  for (auto& slot : slots_) {
    if (slot.due <= began + interval_ / 2) read(slot);
  }
  if (own_cost_due_ <= began) {
    report_own_cost(began);
    own_cost_due_ = began + kSlowPace;
  }
  move_on(began);
  slow_down_if_dear(clock_.now() - began);
}

void Sampler::last_beat() {
  for (auto& slot : slots_) read(slot);
  const Timestamp now = clock_.now();
  report_own_cost(now);
}

void Sampler::read(Slot& slot) {
  if (slot.failed) return;
  const Timestamp now = clock_.now();
  slot.due = slot.probe->pace() == probes::Pace::slow ? now + kSlowPace : now;
  if (auto sampled = slot.probe->sample(clock_, sink_); !sampled) {
    slot.failed = true;
    not_measured_.push_back({std::string(slot.probe->name()),
                             fmt::format("stopped during the run: {}", sampled.error().message)});
  }
}

void Sampler::move_on(Timestamp began) {
  const Nanoseconds lateness = began - next_;
  if (stats_.beats == 0) first_beat_ = began;
  ++stats_.beats;
  last_beat_ = began;
  stats_.worst_lateness = std::max(stats_.worst_lateness, lateness);
  if (lateness > interval_ / 2) ++stats_.late_beats;
  next_ += interval_;
  const Timestamp now = clock_.now();
  if (next_ > now) return;
  const auto missed = (now - next_) / interval_ + 1;
  next_ += missed * interval_;
  stats_.late_beats += static_cast<uint64_t>(missed);
  sink_.lost(
      {"sampler", "beats skipped because the machine was too busy", static_cast<uint64_t>(missed)});
}

void Sampler::slow_down_if_dear(Nanoseconds cost) {
  dear_beats_ = cost > interval_ / 5 ? dear_beats_ + 1 : 0;
  if (dear_beats_ < kDearBeatsAllowed || interval_ * 2 > kLongestInterval) return;
  dear_beats_ = 0;
  interval_ *= 2;
  sink_.lost({"sampler", "interval doubled because reading took more than a fifth of it", 1});
}

void Sampler::report_own_cost(Timestamp now) {
  sink_.sample(own_cpu_, now, own_cost_->cpu_seconds() - cpu_at_open_);
  sink_.sample(own_memory_, now, own_cost_->resident_bytes());
}

Sampling Sampler::stats() const {
  Sampling stats = stats_;
  if (stats.beats > 1) {
    stats.achieved_interval = (last_beat_ - first_beat_) / static_cast<int64_t>(stats.beats - 1);
  }
  stats.own_cpu_seconds = own_cost_->cpu_seconds() - cpu_at_open_;
  return stats;
}

}  // namespace assay::sampler
