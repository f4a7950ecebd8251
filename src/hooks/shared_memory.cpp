// SPDX-License-Identifier: Apache-2.0
#include "shared_memory.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

namespace assay::hooks {
namespace {

namespace shared = client::shared;

constexpr size_t kLaneWords = shared::kLaneBytes / 8;
constexpr size_t kEventWords = shared::kEventBytes / 8;
constexpr size_t kHistogramWords = shared::kHistogramBytes / 8;
constexpr uint64_t kAllGroups = (uint64_t{1} << shared::kGroups) - 1;
/// A count that a client claims is worth no more than that at once.
constexpr uint64_t kMostDropped = UINT32_MAX;

bool send_with_descriptor(int connection, shared::Offer offer, int fd) {
  iovec part{&offer, sizeof offer};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
  return ::sendmsg(connection, &message, MSG_DONTWAIT | MSG_NOSIGNAL) == sizeof offer;
}

}  // namespace

Fd SharedMemory::make() {
  Fd fd(::memfd_create("assay-reports", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd.valid() || ::ftruncate(fd.get(), shared::kBytes) != 0 ||
      ::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return {};
  }
  return fd;
}

std::optional<SharedMemory> SharedMemory::offer(int connection, bool timers_are_histograms) {
  Fd memory = make();
  if (!memory.valid()) return std::nullopt;
  const shared::Offer offer{shared::kMagic, shared::kVersion, shared::kBytes,
                            timers_are_histograms ? shared::kTimersAreHistograms : 0};
  if (!send_with_descriptor(connection, offer, memory.get())) return std::nullopt;
  return SharedMemory(std::move(memory));
}

bool SharedMemory::read(size_t offset, void* into, size_t bytes) const {
  return ::pread(memory_.get(), into, bytes, static_cast<off_t>(offset)) ==
         static_cast<ssize_t>(bytes);
}

void SharedMemory::look(Losses& losses) {
  std::array<uint64_t, shared::kFirstHistogram / 8> words{};
  if (!read(0, words.data(), sizeof words)) return losses.add(Trouble::bad_memory);
  for (size_t i = 0; i < shared::kLanes; ++i) {
    if ((words[shared::kLanesInUse / 8] >> i & 1U) == 0) continue;
    const size_t at = shared::kFirstLane / 8 + i * kLaneWords;
    lanes_[i].head = words[at + shared::kHead / 8];
    note_dropped(lanes_[i], words[at + shared::kDropped / 8], losses);
  }
}

void SharedMemory::note_dropped(Lane& lane, uint64_t dropped, Losses& losses) {
  if (dropped == lane.dropped) return;
  losses.add(Trouble::ring_full, std::min(dropped - lane.dropped, kMostDropped));
  lane.dropped = dropped;
}

void SharedMemory::take_events(Buffers& buffers, Intake& intake, const Arrival& arrival,
                               Losses& losses) {
  for (size_t i = 0; i < shared::kLanes; ++i) {
    if (lanes_[i].head != lanes_[i].tail) take_lane(i, buffers, intake, arrival, losses);
  }
}

void SharedMemory::take_lane(size_t number, Buffers& buffers, Intake& intake,
                             const Arrival& arrival, Losses& losses) {
  Lane& lane = lanes_[number];
  const size_t start = shared::kFirstEvent + number * shared::kEvents * shared::kEventBytes;
  bool good = lane.head - lane.tail <= shared::kEvents;
  while (good && lane.tail != lane.head) {
    const size_t place = lane.tail % shared::kEvents;
    const size_t count = std::min<size_t>(lane.head - lane.tail, shared::kEvents - place);
    good = read(start + place * shared::kEventBytes, buffers.events.data(),
                count * shared::kEventBytes);
    for (size_t i = 0; good && i < count; ++i) {
      take_event(&buffers.events[i * kEventWords], ++lane.tail, intake, arrival, losses);
    }
  }
  if (!good) losses.add(Trouble::bad_memory);
  lane.tail = lane.head;
  const size_t tail = shared::kFirstLane + number * shared::kLaneBytes + shared::kTail;
  if (::pwrite(memory_.get(), &lane.tail, sizeof lane.tail, static_cast<off_t>(tail)) < 0) {
    losses.add(Trouble::bad_memory);
  }
}

/// `position` counts from one and is part of the event, so that a torn or stale one is seen.
void SharedMemory::take_event(const uint64_t* words, uint64_t position, Intake& intake,
                              const Arrival& arrival, Losses& losses) {
  const Event event{static_cast<uint32_t>(words[0]), std::bit_cast<double>(words[1]),
                    std::bit_cast<double>(words[2])};
  if (words[0] >> 32U != static_cast<uint32_t>(position)) {
    losses.add(Trouble::bad_memory);
  } else if (!std::isfinite(event.value)) {
    losses.add(Trouble::out_of_range);
  } else {
    intake.take(event, arrival, losses);
  }
}

void SharedMemory::add_histogram(uint32_t index, Budget& budget, Losses& losses) {
  if (index >= shared::kHistograms) return losses.add(Trouble::bad_memory);
  if (std::any_of(histograms_.begin(), histograms_.end(),
                  [&](const Seen& seen) { return seen.index == index; })) {
    return;
  }
  if (!budget.take(sizeof(Seen))) return losses.add(Trouble::no_room);
  histograms_.emplace_back().index = index;
}

void SharedMemory::take_durations(Buffers& buffers, Intake& intake, const Arrival& arrival,
                                  Budget& budget, Losses& losses) {
  if (histograms_.empty()) return;
  if (!read(shared::kFirstHistogram, buffers.heads.data(), sizeof buffers.heads)) {
    return losses.add(Trouble::bad_memory);
  }
  for (Seen& seen : histograms_) {
    const size_t at = seen.index * kHistogramWords;
    const uint64_t groups = buffers.heads[at + shared::kGroupsInUse / 8] & kAllGroups;
    if (!add_new(buffers, seen, groups & ~seen.refused, budget, losses)) continue;
    intake.take_durations(seen.index, buffers.added, arrival);
  }
}

bool SharedMemory::has_room(Seen& seen, size_t group, Budget& budget) {
  if (seen.counts.has_group(group) || budget.take(sizeof(Histogram::Group))) return true;
  seen.refused |= uint64_t{1} << group;
  return false;
}

/// Leaves in `buffers.added` what the counts have grown by; false when that is nothing.
bool SharedMemory::add_new(Buffers& buffers, Seen& seen, uint64_t groups, Budget& budget,
                           Losses& losses) {
  if (groups == 0) return false;
  const auto first = static_cast<size_t>(std::countr_zero(groups)) * shared::kGroupSize;
  const auto end = static_cast<size_t>(std::bit_width(groups)) * shared::kGroupSize;
  const size_t start = shared::kFirstBucket + (seen.index * shared::kBuckets + first) * 4;
  if (!read(start, &buffers.buckets[first], (end - first) * 4)) {
    losses.add(Trouble::bad_memory);
    return false;
  }
  buffers.added.clear();
  for (size_t i = first; i < end; ++i) {
    if ((groups >> (i / shared::kGroupSize) & 1U) == 0) continue;
    const uint32_t grown = buffers.buckets[i] - static_cast<uint32_t>(seen.counts.in_bucket(i));
    if (grown == 0) continue;
    if (!has_room(seen, i / shared::kGroupSize, budget)) {
      losses.add(Trouble::no_room, grown);
      continue;
    }
    seen.counts.add_to_bucket(i, grown);
    buffers.added.add_to_bucket(i, grown);
  }
  return buffers.added.count() != 0;
}

}  // namespace assay::hooks
