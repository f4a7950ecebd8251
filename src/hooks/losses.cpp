// SPDX-License-Identifier: Apache-2.0
#include "losses.h"

#include <numeric>
#include <string>

namespace assay::hooks {

std::string_view reason(Trouble trouble) {
  switch (trouble) {
    case Trouble::not_json:
      return "message is not a JSON object";
    case Trouble::too_deep:
      return "message is nested too deeply";
    case Trouble::too_long:
      return "message is too long";
    case Trouble::cut_off:
      return "client left in the middle of a message";
    case Trouble::not_a_number:
      return "value is not a number";
    case Trouble::out_of_range:
      return "value is NaN, infinite or out of range";
    case Trouble::no_value:
      return "metric has no value";
    case Trouble::bad_name:
      return "name is empty, too long or not plain text";
    case Trouble::reserved_name:
      return "name belongs to a metric that the profiler itself measures";
    case Trouble::too_many_metrics:
      return "too many metrics in one message";
    case Trouble::too_many_names:
      return "too many different names";
    case Trouble::bad_time:
      return "time stamp is implausible, time of arrival taken";
    case Trouble::other_unit:
      return "unit is another than at first";
    case Trouble::other_kind:
      return "kind is another than at first";
    case Trouble::left_unread:
      return "log is longer than can be read at the end";
    case Trouble::too_many_clients:
      return "too many clients at once";
    case Trouble::no_descriptor:
      return "no file descriptor left for a client";
    case Trouble::no_room:
      return "no memory left for what the client reports";
    case Trouble::unknown_slot:
      return "event of a metric that was not named";
    case Trouble::bad_memory:
      return "shared memory makes no sense";
    case Trouble::ring_full:
      return "ring was full";
  }
  return "unknown";
}

void Losses::add(const Losses& other) {
  for (size_t i = 0; i < kTroubles; ++i) counts_[i] += other.counts_[i];
  any_ = any_ || other.any_;
}

uint64_t Losses::total() const {
  return std::accumulate(counts_.begin(), counts_.end(), uint64_t{0});
}

void Losses::tell(SampleSink& sink) {
  if (!any_) return;
  for (size_t i = 0; i < kTroubles; ++i) {
    if (counts_[i] == 0) continue;
    sink.lost({"hooks", std::string(reason(static_cast<Trouble>(i))), counts_[i]});
  }
  clear();
}

void Losses::tell(ReportSink& sink, std::optional<CallerId> caller) {
  if (!any_) return;
  for (size_t i = 0; i < kTroubles; ++i) {
    if (counts_[i] != 0) sink.lost(caller, reason(static_cast<Trouble>(i)), counts_[i]);
  }
  clear();
}

}  // namespace assay::hooks
