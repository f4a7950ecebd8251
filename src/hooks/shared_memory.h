// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "budget.h"
#include "intake.h"
#include "losses.h"

#include <array>
#include <assay.hpp>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <assay/base/files.h>
#include <assay/hooks/histogram.h>

namespace assay::hooks {

/// The memory that one client reports through (its layout is in clients/cpp/assay.hpp), as
/// the server sees it. It is never mapped here but read piece by piece into buffers of ours: so
/// nothing that the client does to it can fault, change under our hands or count as our memory.
/// Whatever it holds, a look costs a bounded time.
class SharedMemory {
 public:
  /// Buffers that all clients use in turn.
  struct Buffers {
    std::array<uint64_t, client::shared::kEvents * client::shared::kEventBytes / 8> events{};
    std::array<uint32_t, client::shared::kBuckets> buckets{};
    std::array<uint64_t, client::shared::kHistograms * client::shared::kHistogramBytes / 8> heads{};
    Histogram added;
  };

  explicit SharedMemory(Fd memory) : memory_(std::move(memory)) {}

  /// Makes memory and sends it over the connection, if both can be done at once.
  static std::optional<SharedMemory> offer(int connection, bool timers_are_histograms);
  /// Sealed, so that nobody can resize it under a client.
  static Fd make();

  /// Reads how far the client has written: what it named on the socket before that can be read
  /// after this.
  void look(Losses& losses);
  /// Gives all events up to there.
  void take_events(Buffers& buffers, Intake& intake, const Arrival& arrival, Losses& losses);
  /// From now on this histogram is looked at.
  void add_histogram(uint32_t index, Budget& budget, Losses& losses);
  /// Gives what was added to the histograms since the last time.
  void take_durations(Buffers& buffers, Intake& intake, const Arrival& arrival, Budget& budget,
                      Losses& losses);

 private:
  struct Lane {
    uint64_t head = 0;
    uint64_t tail = 0;
    uint64_t dropped = 0;
  };
  struct Seen {
    uint32_t index = 0;
    uint64_t refused = 0;  ///< groups that there was no room for, a bit each
    Histogram counts;
  };

  bool read(size_t offset, void* into, size_t bytes) const;
  static void note_dropped(Lane& lane, uint64_t dropped, Losses& losses);
  void take_lane(size_t number, Buffers& buffers, Intake& intake, const Arrival& arrival,
                 Losses& losses);
  static void take_event(const uint64_t* words, uint64_t position, Intake& intake,
                         const Arrival& arrival, Losses& losses);
  static bool has_room(Seen& seen, size_t group, Budget& budget);
  bool add_new(Buffers& buffers, Seen& seen, uint64_t groups, Budget& budget, Losses& losses);

  Fd memory_;
  std::array<Lane, client::shared::kLanes> lanes_{};
  std::vector<Seen> histograms_;
};

}  // namespace assay::hooks
