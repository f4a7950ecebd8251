// SPDX-License-Identifier: Apache-2.0
#include "live_table.h"

namespace assay::session {
namespace {

constexpr size_t kWindow = 10;
constexpr size_t kSparkline = 20;

}  // namespace

LiveTable::LiveTable(SampleSink& next) : next_(next), window_(kWindow) {
  recent_.reserve(kSparkline);
}

SeriesId LiveTable::declare(const SeriesInfo& info) {
  const SeriesId id = next_.declare(info);
  if (info.kind == Kind::event) units_[info.name] = info.unit;
  if (info.scope == Scope::app) {
    if (info.name == metric(MetricId::cpu_usage_seconds_total).name) cpu_id_ = id;
    if (info.name == metric(MetricId::memory_bytes).name) memory_id_ = id;
  }
  return id;
}

void LiveTable::sample(SeriesId id, Timestamp time, double value) {
  if (id == cpu_id_) {
    window_[head_] = {time, value};
    head_ = (head_ + 1) % kWindow;
    if (filled_ < kWindow) ++filled_;
  } else if (id == memory_id_) {
    memory_ = value;
  }
  next_.sample(id, time, value);
}

std::optional<double> LiveTable::cores() const {
  if (filled_ < 2) return std::nullopt;
  const Point& last = window_[(head_ + kWindow - 1) % kWindow];
  const Point& first = window_[(head_ + kWindow - filled_) % kWindow];
  const double dt = seconds(last.time - first.time);
  if (dt <= 0) return std::nullopt;
  return (last.cpu_seconds - first.cpu_seconds) / dt;
}

void LiveTable::remember_cores() {
  const auto now = cores();
  if (!now) return;
  if (recent_.size() == kSparkline) recent_.erase(recent_.begin());
  recent_.push_back(*now);
}

}  // namespace assay::session
