// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include <assay/base/files.h>
#include <assay/base/mutex.h>
#include <assay/base/result.h>

namespace assay::promapi {

struct QueueLimits {
  uint64_t bytes = 64U << 20U;         ///< of all files together; at least 64 KiB
  uint64_t segment_bytes = 1U << 20U;  ///< of one file, which goes as a whole; at most an eighth
};

/// What is queued, and what has been lost since the queue was opened.
struct QueueCounts {
  uint64_t queued_records = 0;
  uint64_t queued_samples = 0;
  uint64_t queued_bytes = 0;     ///< of the records
  uint64_t disk_bytes = 0;       ///< of the files, in whole blocks
  uint64_t lost_samples = 0;     ///< the oldest ones, which made room for new ones
  uint64_t refused_samples = 0;  ///< the newest ones, which the disk did not take
  uint64_t damaged = 0;          ///< places where a file ended too early or had wrong bytes
};

struct QueueRecord {
  std::string bytes;
  uint32_t samples = 0;
};

/// A queue of records in files of a folder, bounded in bytes, that keeps their order and survives
/// the process. A record is on its way to the disk when push() returns: it outlives a killed
/// process, while a power cut takes what the kernel has not written back yet, about half a minute.
/// Nothing is synced, which would wear out flash and make the caller wait. What a crash has torn is
/// found by its checksum, dropped and counted; a record that was taken but not yet done when the
/// process ended comes again. One thread pushes and one takes, which waits for the disk without
/// making the other wait.
class DiskQueue {
 public:
  /// Makes the folder where there is none. Refused while another queue has it.
  static Result<std::unique_ptr<DiskQueue>> open(const std::filesystem::path& folder,
                                                 const QueueLimits& limits = {});

  /// Where the bound is reached the oldest file makes room, and its samples are counted as lost.
  /// When the disk does not take it, only this record is lost, and counted.
  Result<void> push(std::string_view bytes, uint32_t samples);
  /// The oldest record, again and again until done(); nothing: there is none.
  std::optional<QueueRecord> front();
  /// The record that front() gave last is dealt with and does not come again.
  void done();
  /// Returns when there is a record, or false when stopped.
  bool wait(const std::stop_token& stop);

  QueueCounts counts() const;

 private:
  struct Segment {
    uint64_t number = 0;
    uint64_t size = 0;  ///< of the file
    uint64_t end = 0;   ///< of the last good record
    uint64_t read = 0;  ///< where the next record to be taken begins
    uint64_t records = 0;
    uint64_t samples = 0;
  };
  /// What front() gave.
  struct Taken {
    uint64_t segment = 0;
    uint64_t next = 0;
    uint32_t samples = 0;
  };
  /// Where a record is, and its file's end.
  struct Place {
    uint64_t segment = 0;
    uint64_t begin = 0;
    uint64_t end = 0;
  };

  DiskQueue(std::filesystem::path folder, const QueueLimits& limits, Fd locked);
  void find_segments() ASSAY_REQUIRES(mutex_);
  void add_segment(uint64_t number) ASSAY_REQUIRES(mutex_);
  std::filesystem::path path_of(uint64_t number) const;
  uint64_t disk_bytes() const ASSAY_REQUIRES(mutex_);
  bool is_written(const Segment& segment) const ASSAY_REQUIRES(mutex_);
  void make_room(uint64_t bytes) ASSAY_REQUIRES(mutex_);
  void drop_oldest() ASSAY_REQUIRES(mutex_);
  Result<void> begin_segment() ASSAY_REQUIRES(mutex_);
  Result<void> append(std::string_view bytes, uint32_t samples) ASSAY_REQUIRES(mutex_);
  void remove_front() ASSAY_REQUIRES(mutex_);
  void remove_finished() ASSAY_REQUIRES(mutex_);
  bool is_first(uint64_t number) const ASSAY_REQUIRES(mutex_);
  std::optional<Place> next_place();
  std::optional<QueueRecord> read(const Place& place);
  bool hold(const Place& place, const std::optional<QueueRecord>& record);

  const std::filesystem::path folder_;
  const QueueLimits limits_;
  const Fd locked_;  ///< the folder, for as long as the queue lives
  mutable Mutex mutex_;
  std::condition_variable_any pushed_;
  std::deque<Segment> segments_ ASSAY_GUARDED_BY(mutex_);
  uint64_t next_number_ ASSAY_GUARDED_BY(mutex_) = 1;
  Fd write_fd_ ASSAY_GUARDED_BY(mutex_);  ///< of the last segment; none: it is not written any more
  std::optional<Taken> taken_ ASSAY_GUARDED_BY(mutex_);
  std::string scratch_ ASSAY_GUARDED_BY(mutex_);
  QueueCounts counts_ ASSAY_GUARDED_BY(mutex_);  ///< only what was lost
  Fd read_fd_;                                   ///< the taking thread's
  uint64_t read_number_ = 0;                     ///< of its segment
};

}  // namespace assay::promapi
