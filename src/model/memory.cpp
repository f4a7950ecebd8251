// SPDX-License-Identifier: Apache-2.0
#include "operators.h"

#include <algorithm>
#include <limits>

#include <assay/model/inspect.h>

namespace assay::model {
namespace {

/// From the step that makes a value to the last that needs it.
struct Life {
  size_t begin = std::numeric_limits<size_t>::max();
  size_t end = 0;
  double bytes = 0;
};

bool is_view(const Step& step) {
  if (step.holds_steps || step.inputs.empty() || step.inputs.front() < 0) return false;
  const Operator* known = find_operator(*step.node);
  return known != nullptr && known->work == work::view;
}

/// Which value's memory a value lies in.
std::vector<int> places(const Trace& trace) {
  std::vector<int> place(trace.values.size());
  for (size_t i = 0; i < place.size(); ++i) place[i] = static_cast<int>(i);
  for (const auto& step : trace.steps) {
    if (!is_view(step) || step.outputs.empty() || step.outputs.front() < 0) continue;
    place[static_cast<size_t>(step.outputs.front())] =
        place[static_cast<size_t>(step.inputs.front())];
  }
  return place;
}

}  // namespace

double peak_activation_bytes(const Trace& trace) {
  const std::vector<int> place = places(trace);
  std::vector<Life> lives(trace.values.size());
  const auto touch = [&](int value, size_t step) {
    if (value < 0 || trace.values[static_cast<size_t>(value)].constant) return;
    Life& life = lives[static_cast<size_t>(place[static_cast<size_t>(value)])];
    life.begin = std::min(life.begin, step);
    life.end = std::max(life.end, step);
    life.bytes = std::max(life.bytes, trace.values[static_cast<size_t>(value)].known.bytes());
  };
  for (const int input : trace.inputs) touch(input, 0);
  for (size_t i = 0; i < trace.steps.size(); ++i) {
    if (trace.steps[i].folded) continue;
    for (const int input : trace.steps[i].inputs) touch(input, i);
    for (const int output : trace.steps[i].outputs) touch(output, i);
  }
  for (const int output : trace.outputs) touch(output, trace.steps.size());
  std::vector<double> change(trace.steps.size() + 2, 0);
  for (const auto& life : lives) {
    if (life.begin > life.end) continue;
    change[life.begin] += life.bytes;
    change[life.end + 1] -= life.bytes;
  }
  double now = 0;
  double peak = 0;
  for (const double step : change) peak = std::max(peak, now += step);
  return peak;
}

}  // namespace assay::model
