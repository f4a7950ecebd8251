// SPDX-License-Identifier: Apache-2.0
// The memory that a profiler shares with an app, and the app's end of it; include assay.hpp.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace assay {
namespace client {

/// The memory that a profiler shares with one client, version 1: made by the profiler, sealed
/// against growing and shrinking, zero at first. Numbers are in the machine's byte order.
///
/// A client says "{}", which means nothing to a profiler that does not know this. One that does
/// answers with an Offer and the memory's descriptor. The client then names each metric once, by a
/// JSON message on the socket: {"objects": {"kind": "number", "slot": 3}} for values that come as
/// events of that slot, {"latency": {"kind": "timer", "histogram": 0}} for a histogram.
///
/// Events go through lanes, each a ring with one writer at a time: a writer fills the place of its
/// head, then stores head + 1; the profiler stores as tail how far it has read. An event is a word
/// (head + 1) << 32 | slot, then value and Unix seconds as doubles. What finds a lane full is
/// dropped and counted there. Whenever a lane is found half full, a line feed on the socket asks
/// the profiler to read. Durations are counted in a histogram's buckets, without order.
namespace shared {
constexpr uint32_t kMagic = 0x59415341;
constexpr uint32_t kVersion = 1;
constexpr size_t kLanes = 8;
constexpr size_t kEvents = 1024;  ///< in a lane
constexpr size_t kEventBytes = 24;
constexpr size_t kHistograms = 64;
constexpr size_t kGroups = 44;  ///< doublings of time in a histogram
constexpr size_t kGroupSize = 64;
constexpr size_t kBuckets = kGroups * kGroupSize;  ///< of 32 bits each

constexpr size_t kLanesInUse = 0;  ///< a bit each
constexpr size_t kFirstLane = 64;
constexpr size_t kLaneBytes = 128;
constexpr size_t kHead = 0;
constexpr size_t kDropped = 8;
constexpr size_t kTail = 64;
constexpr size_t kFirstHistogram = kFirstLane + kLanes * kLaneBytes;
constexpr size_t kHistogramBytes = 64;
constexpr size_t kSum = 0;          ///< of nanoseconds, at least one for each duration
constexpr size_t kGroupsInUse = 8;  ///< a bit each
constexpr size_t kFirstEvent = 8192;
constexpr size_t kFirstBucket = kFirstEvent + kLanes * kEvents * kEventBytes;
constexpr size_t kBytes = kFirstBucket + kHistograms * kBuckets * 4;

constexpr uint32_t kTimersAreHistograms = 1;  ///< a flag: the profiler wants no event for each
struct Offer {
  uint32_t magic;
  uint32_t version;
  uint32_t bytes;
  uint32_t flags;
};

/// The leading bits of the nanoseconds as a float: 64 buckets to each doubling.
inline size_t bucket_of(int64_t nanoseconds) {
  const float length = static_cast<float>(nanoseconds < 1 ? 1 : nanoseconds);
  uint32_t bits = 0;
  std::memcpy(&bits, &length, sizeof bits);
  const size_t bucket = (bits >> 17) - (127U << 6);
  return bucket < kBuckets ? bucket : kBuckets - 1;
}

/// A descriptor that came with the profiler's answer; n is what recvmsg gave.
struct Answer {
  ssize_t n;
  Offer offer;
  int fd;
};

/// Takes what has come on the socket, without waiting.
inline Answer receive(int socket) {
  Answer answer = {0, {0, 0, 0, 0}, -1};
  iovec part = {&answer.offer, sizeof answer.offer};
  union {
    cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int))];
  } control;
  msghdr message;
  std::memset(&message, 0, sizeof message);
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = &control;
  message.msg_controllen = sizeof control;
  answer.n = ::recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  const cmsghdr* const header = answer.n > 0 ? CMSG_FIRSTHDR(&message) : nullptr;
  if (header != nullptr && header->cmsg_type == SCM_RIGHTS &&
      header->cmsg_len == CMSG_LEN(sizeof(int))) {
    std::memcpy(&answer.fd, CMSG_DATA(header), sizeof answer.fd);
  }
  return answer;
}

/// Numbers the threads that report.
inline unsigned thread_number() {
  static std::atomic<unsigned> next(0);
  static thread_local unsigned number = next++;
  return number;
}

/// An app's end. It stays at one address: while there is no profiler, memory of the app's own lies
/// there, so that a thread in the midst of reporting never meets a hole. Thread-safe; nobody waits.
class Memory {
 public:
  enum class Put { done, half_full, dropped };

  Memory() noexcept
      : base_(::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, kPrivate, -1, 0)), busy_() {}
  ~Memory() { unmap(); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  /// Also for a forked child, which must not write into its parent's.
  void unmap() noexcept {
    if (base_ != MAP_FAILED) ::munmap(base_, kBytes);
    base_ = MAP_FAILED;
  }

  /// Only what nobody can cut short any more: touching a missing page would end the app.
  bool attach(const Offer& offer, int fd) noexcept {
    struct stat status;
    if (base_ == MAP_FAILED || offer.magic != kMagic || offer.version != kVersion ||
        offer.bytes != kBytes || ::fstat(fd, &status) != 0 ||
        status.st_size != static_cast<off_t>(kBytes) ||
        (::fcntl(fd, F_GET_SEALS) & F_SEAL_SHRINK) == 0) {
      return false;
    }
    return ::mmap(base_, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == base_;
  }

  void detach() noexcept {
    if (base_ == MAP_FAILED) return;
    ::mmap(base_, kBytes, PROT_READ | PROT_WRITE, kPrivate | MAP_FIXED, -1, 0);
  }

  /// Each thread has a lane of its own, as long as there are not too many.
  Put put(uint32_t slot, double value, double time) noexcept {
    const size_t first = thread_number();
    for (size_t i = 0; i < kLanes; ++i) {
      const size_t lane = (first + i) % kLanes;
      if (busy_[lane].flag.exchange(true, std::memory_order_acquire)) continue;
      const Put result = put_in(lane, slot, value, time);
      busy_[lane].flag.store(false, std::memory_order_release);
      return result;
    }
    return Put::dropped;
  }

  void add(size_t histogram, int64_t nanoseconds) noexcept {
    const size_t bucket = bucket_of(nanoseconds);
    const size_t head = kFirstHistogram + histogram * kHistogramBytes;
    mark(head + kGroupsInUse, uint64_t{1} << (bucket / kGroupSize));
    reinterpret_cast<std::atomic<uint32_t>*>(at(kFirstBucket + (histogram * kBuckets + bucket) * 4))
        ->fetch_add(1, std::memory_order_relaxed);
    word(head + kSum)
        .fetch_add(static_cast<uint64_t>(nanoseconds < 1 ? 1 : nanoseconds),
                   std::memory_order_relaxed);
  }

 private:
  struct Busy {
    std::atomic<bool> flag;
    char apart[63];  ///< in cache lines of their own
  };
  static constexpr int kPrivate = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

  char* at(size_t offset) noexcept { return static_cast<char*>(base_) + offset; }
  std::atomic<uint64_t>& word(size_t offset) noexcept {
    return *reinterpret_cast<std::atomic<uint64_t>*>(at(offset));
  }
  void store(size_t offset, double value) noexcept {
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    word(offset).store(bits, std::memory_order_relaxed);
  }
  void mark(size_t offset, uint64_t bit) noexcept {
    if ((word(offset).load(std::memory_order_relaxed) & bit) != 0) return;
    word(offset).fetch_or(bit, std::memory_order_relaxed);
  }

  Put put_in(size_t number, uint32_t slot, double value, double time) noexcept {
    const size_t lane = kFirstLane + number * kLaneBytes;
    const uint64_t head = word(lane + kHead).load(std::memory_order_relaxed);
    const uint64_t waiting = head - word(lane + kTail).load(std::memory_order_acquire);
    mark(kLanesInUse, uint64_t{1} << number);
    if (waiting >= kEvents) {
      word(lane + kDropped).fetch_add(1, std::memory_order_relaxed);
      return Put::dropped;
    }
    const size_t event = kFirstEvent + (number * kEvents + head % kEvents) * kEventBytes;
    word(event).store((head + 1) << 32 | slot, std::memory_order_relaxed);
    store(event + 8, value);
    store(event + 16, time);
    word(lane + kHead).store(head + 1, std::memory_order_release);
    const bool asks = (head + 1) % (kEvents / 2) == 0 && waiting + 1 >= kEvents / 2;
    return asks ? Put::half_full : Put::done;
  }

  void* base_;
  Busy busy_[kLanes];
};

}  // namespace shared
}  // namespace client
}  // namespace assay
