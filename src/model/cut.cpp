// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include <assay/model/split.h>

namespace assay::model {
namespace {

/// When a value of the main graph is made, and last used.
struct Span {
  size_t made = 0;
  size_t last = 0;
};

constexpr size_t kNever = std::numeric_limits<size_t>::max();

/// Of values that change from inference to inference, by steps of the trace; nested steps count as
/// part of the node that holds them, which comes behind them.
std::vector<Span> spans(const Trace& trace) {
  std::vector<Span> list(trace.values.size(), Span{kNever, 0});
  for (const int input : trace.inputs) list[static_cast<size_t>(input)].made = 0;
  for (size_t i = 0; i < trace.steps.size(); ++i) {
    if (trace.steps[i].folded) continue;
    for (const int input : trace.steps[i].inputs) {
      if (input >= 0) list[static_cast<size_t>(input)].last = i + 1;
    }
    if (trace.steps[i].level > 0) continue;
    for (const int output : trace.steps[i].outputs) {
      if (output >= 0) list[static_cast<size_t>(output)].made = i + 1;
    }
  }
  for (const int output : trace.outputs) {
    if (output >= 0) list[static_cast<size_t>(output)].last = trace.steps.size() + 1;
  }
  for (size_t i = 0; i < list.size(); ++i) {
    if (trace.values[i].constant) list[i].made = kNever;
  }
  return list;
}

/// For each place between steps, how many values cross it, and one of them.
struct Crossing {
  int count = 0;
  long sum = 0;  ///< of the values' numbers: of a single one, its own
};

std::vector<Crossing> crossings(const Trace& trace, const std::vector<Span>& lives) {
  std::vector<Crossing> list(trace.steps.size() + 2);
  for (size_t i = 0; i < lives.size(); ++i) {
    if (lives[i].made == kNever || lives[i].last <= lives[i].made) continue;
    list[lives[i].made].count += 1;
    list[lives[i].made].sum += static_cast<long>(i);
    list[lives[i].last].count -= 1;
    list[lives[i].last].sum -= static_cast<long>(i);
  }
  for (size_t i = 1; i < list.size(); ++i) {
    list[i].count += list[i - 1].count;
    list[i].sum += list[i - 1].sum;
  }
  return list;
}

bool is_end(const std::vector<int>& ends, long value) {
  return std::find(ends.begin(), ends.end(), static_cast<int>(value)) != ends.end();
}

}  // namespace

std::vector<CutPoint> cut_points(const Trace& trace) {
  const std::vector<Crossing> between = crossings(trace, spans(trace));
  const std::vector<Cost> list = costs(trace);
  Cost total;
  for (const auto& cost : list) total += cost;
  std::vector<CutPoint> found;
  Cost before;
  long previous = -1;
  for (size_t i = 0; i < trace.steps.size(); ++i) {
    before += list[i];
    const Crossing& here = between[i + 1];
    if (here.count != 1 || here.sum == previous || trace.steps[i].level > 0) continue;
    if (is_end(trace.inputs, here.sum) || is_end(trace.outputs, here.sum)) continue;
    previous = here.sum;
    CutPoint& cut = found.emplace_back();
    const Value& value = trace.values[static_cast<size_t>(here.sum)];
    cut.tensor = value.name;
    cut.known = value.known;
    cut.known.numbers.reset();
    cut.bytes = value.known.bytes();
    cut.before = before;
    cut.behind = {total.macs - before.macs, total.flops - before.flops,
                  total.bytes_read - before.bytes_read, total.bytes_written - before.bytes_written,
                  total.parameters - before.parameters};
  }
  return found;
}

}  // namespace assay::model
