// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include <assay/hooks/report.h>
#include <assay/samples/series.h>

namespace assay::hooks {

/// Why something that a client sent was not recorded as it was meant.
enum class Trouble : uint8_t {
  not_json,
  too_deep,
  too_long,
  cut_off,
  not_a_number,
  out_of_range,
  no_value,
  bad_name,
  reserved_name,
  too_many_metrics,
  too_many_names,
  bad_time,
  other_unit,
  other_kind,
  left_unread,
  too_many_clients,
  no_descriptor,
  no_room,
  unknown_slot,
  bad_memory,
  ring_full,
};
constexpr size_t kTroubles = static_cast<size_t>(Trouble::ring_full) + 1;

/// In plain words, as the user reads it.
std::string_view reason(Trouble trouble);

/// Counts per trouble; told to a sink now and then instead of once per message.
class Losses {
 public:
  void add(Trouble trouble, uint64_t count = 1) {
    counts_[static_cast<size_t>(trouble)] += count;
    any_ = true;
  }
  void add(const Losses& other);
  uint64_t count(Trouble trouble) const { return counts_[static_cast<size_t>(trouble)]; }
  uint64_t total() const;
  bool any() const { return any_; }
  void clear() { *this = {}; }
  /// Tells `sink` every count that is not zero, and starts again from zero.
  void tell(SampleSink& sink);
  void tell(ReportSink& sink, std::optional<CallerId> caller);

 private:
  std::array<uint64_t, kTroubles> counts_{};
  bool any_ = false;
};

}  // namespace assay::hooks
