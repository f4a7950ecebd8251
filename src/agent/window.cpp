// SPDX-License-Identifier: Apache-2.0
#include "window.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace assay::agent {
namespace {

uint32_t milliseconds(Timestamp time) {
  return static_cast<uint32_t>(unix_ns(time) / 1'000'000);
}

double nth(std::vector<float>& values, double q) {
  const double rank = std::ceil(q * static_cast<double>(values.size())) - 1;
  const auto place = values.begin() + static_cast<std::ptrdiff_t>(std::max(0.0, rank));
  std::nth_element(values.begin(), place, values.end());
  return *place;
}

}  // namespace

Window::Window(size_t samples) : ring_(samples) {}

void Window::add(Timestamp time, double value) {
  ring_[next_] = {milliseconds(time), static_cast<float>(value)};
  next_ = (next_ + 1) % ring_.size();
  filled_ = std::min(filled_ + 1, ring_.size());
  last_ = time;
}

std::optional<double> Window::latest() const {
  if (filled_ == 0) return std::nullopt;
  return back(0).value;
}

void Window::grow(size_t samples) {
  if (samples <= ring_.size()) return;
  std::vector<Sample> larger(samples);
  for (size_t i = 0; i < filled_; ++i) larger[i] = back(filled_ - 1 - i);
  ring_ = std::move(larger);
  next_ = filled_;
}

size_t Window::count(Nanoseconds length, Timestamp now) const {
  if (now - last_ > length) return 0;
  const int64_t longest = std::chrono::duration_cast<Milliseconds>(length).count();
  const uint32_t present = milliseconds(now);
  size_t n = 0;
  while (n < filled_ && static_cast<int32_t>(present - back(n).time_ms) <= longest) ++n;
  return n;
}

/// The samples not older than `length`, in a place that all windows share.
std::vector<float>& Window::values(Nanoseconds length, Timestamp now) const {
  static thread_local std::vector<float> values;
  values.clear();
  const size_t n = count(length, now);
  for (size_t i = 0; i < n; ++i) values.push_back(back(i).value);
  return values;
}

std::optional<double> Window::quantile(double q, Nanoseconds length, Timestamp now) const {
  auto& sorted = values(length, now);
  if (sorted.empty()) return std::nullopt;
  return nth(sorted, q);
}

std::optional<WindowSummary> Window::over(Nanoseconds length, Timestamp now) const {
  auto& all = values(length, now);
  if (all.empty()) return std::nullopt;
  WindowSummary summary;
  summary.mean = std::accumulate(all.begin(), all.end(), 0.0) / static_cast<double>(all.size());
  summary.max = *std::max_element(all.begin(), all.end());
  summary.p95 = nth(all, 0.95);
  return summary;
}

}  // namespace assay::agent
