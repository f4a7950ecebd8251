// SPDX-License-Identifier: Apache-2.0
#include "window.h"

#include <algorithm>
#include <cmath>

namespace assay::agent {
namespace {

int64_t milliseconds(Timestamp time) {
  return unix_ns(time) / 1'000'000;
}

}  // namespace

Window::Window(size_t samples) : ring_(samples) {}

void Window::add(Timestamp time, double value) {
  ring_[next_] = {milliseconds(time), static_cast<float>(value)};
  next_ = (next_ + 1) % ring_.size();
  filled_ = std::min(filled_ + 1, ring_.size());
}

std::optional<double> Window::latest() const {
  if (filled_ == 0) return std::nullopt;
  return ring_[(next_ + ring_.size() - 1) % ring_.size()].value;
}

std::optional<WindowSummary> Window::over(Nanoseconds length, Timestamp now) const {
  const int64_t oldest = milliseconds(now - length);
  static thread_local std::vector<float> values;
  values.clear();
  double sum = 0;
  for (size_t i = 0; i < filled_; ++i) {
    const Sample& sample = ring_[(next_ + ring_.size() - 1 - i) % ring_.size()];
    if (sample.time_ms < oldest) break;
    values.push_back(sample.value);
    sum += sample.value;
  }
  if (values.empty()) return std::nullopt;
  WindowSummary summary;
  summary.mean = sum / static_cast<double>(values.size());
  summary.max = *std::max_element(values.begin(), values.end());
  const auto rank = static_cast<size_t>(std::ceil(0.95 * static_cast<double>(values.size()))) - 1;
  const auto place = values.begin() + static_cast<std::ptrdiff_t>(rank);
  std::nth_element(values.begin(), place, values.end());
  summary.p95 = *place;
  return summary;
}

}  // namespace assay::agent
