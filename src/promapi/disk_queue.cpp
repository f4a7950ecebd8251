// SPDX-License-Identifier: Apache-2.0
#include "segment.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include <assay/base/text.h>
#include <assay/promapi/disk_queue.h>

namespace assay::promapi {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEnding = ".queue";
constexpr uint64_t kLeastBytes = 64U << 10U;
constexpr uint64_t kLeastSegments = 8;
constexpr uint64_t kBlock = 4096;
constexpr int kPrivate = 0600;

/// What a file takes on the disk, so that many small ones cannot hide behind their sizes.
uint64_t blocks(uint64_t bytes) {
  return (bytes + kBlock - 1) / kBlock * kBlock;
}

QueueLimits sensible(QueueLimits limits) {
  limits.bytes = std::max(limits.bytes, kLeastBytes);
  limits.segment_bytes = std::min(limits.segment_bytes, limits.bytes / kLeastSegments);
  return limits;
}

std::optional<uint64_t> number_of(const fs::path& file) {
  if (file.extension() != kEnding) return std::nullopt;
  return parse_uint(file.stem().native());
}

/// Reads `size` bytes at `offset`; less when the file ends before.
std::string read_at(int fd, uint64_t offset, size_t size) {
  std::string bytes(size, '\0');
  size_t got = 0;
  while (got < size) {
    const ssize_t n = ::pread(fd, bytes.data() + got, size - got, static_cast<off_t>(offset + got));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    got += static_cast<size_t>(n);
  }
  bytes.resize(got);
  return bytes;
}

}  // namespace

Result<std::unique_ptr<DiskQueue>> DiskQueue::open(const fs::path& folder,
                                                   const QueueLimits& limits) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return refused_errno(fmt::format("cannot create {}", folder.native()), error.value());
  Fd locked(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!locked.valid()) return refused_errno(fmt::format("cannot open {}", folder.native()), errno);
  if (::flock(locked.get(), LOCK_EX | LOCK_NB) != 0)
    return refused(
        fmt::format("{} is used by another process; give each its own folder", folder.native()));
  std::unique_ptr<DiskQueue> queue(new DiskQueue(folder, sensible(limits), std::move(locked)));
  const Lock lock(queue->mutex_);
  queue->find_segments();
  return queue;
}

DiskQueue::DiskQueue(fs::path folder, const QueueLimits& limits, Fd locked)
    : folder_(std::move(folder)), limits_(limits), locked_(std::move(locked)) {}

fs::path DiskQueue::path_of(uint64_t number) const {
  return folder_ / fmt::format("{:020}{}", number, kEnding);
}

void DiskQueue::find_segments() {
  std::error_code error;
  std::vector<uint64_t> numbers;
  for (const auto& entry : fs::directory_iterator(folder_, error)) {
    const auto number = number_of(entry.path());
    if (number && path_of(*number) == entry.path()) numbers.push_back(*number);
  }
  std::sort(numbers.begin(), numbers.end());
  for (const uint64_t number : numbers) add_segment(number);
  if (!numbers.empty()) next_number_ = numbers.back() + 1;
}

void DiskQueue::add_segment(uint64_t number) {
  const auto file = read_file(path_of(number), limits_.bytes + kMaxRecord);
  const SegmentScan scan = scan_segment(file ? std::string_view(*file) : std::string_view());
  // Nothing in it: the process was killed between making the file and writing to it.
  const bool empty = file && file->empty();
  if (!empty && (!scan.ours || scan.damaged)) ++counts_.damaged;
  if (!scan.ours || scan.records == 0) {
    ::unlink(path_of(number).c_str());
    return;
  }
  segments_.push_back({number, file->size(), scan.end, scan.read, scan.records, scan.samples});
}

uint64_t DiskQueue::disk_bytes() const {
  uint64_t sum = 0;
  for (const auto& segment : segments_) sum += blocks(segment.size);
  return sum;
}

bool DiskQueue::is_written(const Segment& segment) const {
  return write_fd_.valid() && &segment == &segments_.back();
}

Result<void> DiskQueue::push(std::string_view bytes, uint32_t samples) {
  const Lock lock(mutex_);
  auto pushed = append(bytes, samples);
  if (!pushed) counts_.refused_samples += samples;
  pushed_.notify_all();
  return pushed;
}

Result<void> DiskQueue::append(std::string_view bytes, uint32_t samples) {
  const uint64_t need = kRecordHead + bytes.size();
  if (bytes.size() > kMaxRecord || blocks(kSegmentHead + need) > limits_.bytes) {
    return bad_input(fmt::format("a record of {} does not fit into the queue {}",
                                 format_bytes(static_cast<double>(bytes.size())),
                                 folder_.native()));
  }
  if (write_fd_.valid() && segments_.back().size + need > limits_.segment_bytes) write_fd_.reset();
  make_room(need);
  if (!write_fd_.valid()) ASSAY_CHECK(begin_segment());
  scratch_.clear();
  append_record(scratch_, bytes, samples);
  Segment& segment = segments_.back();
  if (auto written = write_all(write_fd_.get(), scratch_); !written) {
    // What was written of it is removed; where that fails too, the file is not written any more.
    if (::ftruncate(write_fd_.get(), static_cast<off_t>(segment.size)) != 0) write_fd_.reset();
    return refused(fmt::format("{}: {}", folder_.native(), written.error().message));
  }
  segment.size += need;
  segment.end = segment.size;
  ++segment.records;
  segment.samples += samples;
  return {};
}

void DiskQueue::make_room(uint64_t bytes) {
  const auto after = [&]() ASSAY_REQUIRES(mutex_) {
    if (!write_fd_.valid()) return disk_bytes() + blocks(kSegmentHead + bytes);
    const uint64_t size = segments_.back().size;
    return disk_bytes() - blocks(size) + blocks(size + bytes);
  };
  while (!segments_.empty() && after() > limits_.bytes) drop_oldest();
}

void DiskQueue::drop_oldest() {
  const Segment& oldest = segments_.front();
  const bool held = taken_ && taken_->segment == oldest.number;
  counts_.lost_samples += oldest.samples - (held ? taken_->samples : 0);
  remove_front();
}

Result<void> DiskQueue::begin_segment() {
  const fs::path path = path_of(next_number_);
  Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, kPrivate));
  if (!fd.valid()) return refused_errno(fmt::format("cannot create {}", path.native()), errno);
  const std::string head = segment_head();
  if (auto written = write_all(fd.get(), head); !written) {
    ::unlink(path.c_str());
    return refused(fmt::format("{}: {}", path.native(), written.error().message));
  }
  segments_.push_back({next_number_, head.size(), head.size(), head.size(), 0, 0});
  ++next_number_;
  write_fd_ = std::move(fd);
  return {};
}

void DiskQueue::remove_front() {
  if (is_written(segments_.front())) write_fd_.reset();
  ::unlink(path_of(segments_.front().number).c_str());
  segments_.pop_front();
}

void DiskQueue::remove_finished() {
  while (!segments_.empty() && segments_.front().records == 0 && !is_written(segments_.front()))
    remove_front();
}

bool DiskQueue::is_first(uint64_t number) const {
  return !segments_.empty() && segments_.front().number == number;
}

std::optional<QueueRecord> DiskQueue::front() {
  while (const auto place = next_place()) {
    auto record = read(*place);
    if (hold(*place, record)) return record;
  }
  return std::nullopt;
}

std::optional<DiskQueue::Place> DiskQueue::next_place() {
  const Lock lock(mutex_);
  // Its file has made room for new ones, and it was not sent.
  if (taken_ && !is_first(taken_->segment)) counts_.lost_samples += taken_->samples;
  taken_.reset();
  remove_finished();
  if (segments_.empty() || segments_.front().records == 0) return std::nullopt;
  const Segment& segment = segments_.front();
  return Place{segment.number, segment.read, segment.end};
}

std::optional<QueueRecord> DiskQueue::read(const Place& place) {
  if (!read_fd_.valid() || read_number_ != place.segment) {
    read_fd_ = Fd(::open(path_of(place.segment).c_str(), O_RDWR | O_CLOEXEC));
    read_number_ = place.segment;
  }
  const auto size = record_size(read_at(read_fd_.get(), place.begin, kRecordHead));
  if (!size || *size > place.end - place.begin) return std::nullopt;
  const std::string whole = read_at(read_fd_.get(), place.begin, *size);
  const auto record = first_record(whole);
  if (!record) return std::nullopt;
  return QueueRecord{std::string(record->bytes), record->samples};
}

/// False when the record is gone: its file has made room meanwhile, or was good once and is not any
/// more, since somebody or the disk has changed it.
bool DiskQueue::hold(const Place& place, const std::optional<QueueRecord>& record) {
  const Lock lock(mutex_);
  if (!is_first(place.segment)) return false;
  if (record) {
    taken_ =
        Taken{place.segment, place.begin + kRecordHead + record->bytes.size(), record->samples};
    return true;
  }
  ++counts_.damaged;
  counts_.lost_samples += segments_.front().samples;
  remove_front();
  return false;
}

void DiskQueue::done() {
  const Lock lock(mutex_);
  if (!taken_) return;
  const Taken taken = *taken_;
  taken_.reset();
  // Its file may have made room for new ones while it was being sent.
  if (!is_first(taken.segment)) return;
  Segment& segment = segments_.front();
  segment.read = taken.next;
  --segment.records;
  segment.samples -= taken.samples;
  const std::string offset = done_bytes(segment.read);
  // Where it cannot be written down, the record comes again after a restart.
  (void)!::pwrite(read_fd_.get(), offset.data(), offset.size(), kDoneOffset);
  remove_finished();
}

bool DiskQueue::wait(const std::stop_token& stop) {
  Lock lock(mutex_);
  return pushed_.wait(lock, stop, [this]() ASSAY_REQUIRES(mutex_) {
    return std::any_of(segments_.begin(), segments_.end(),
                       [](const Segment& segment) { return segment.records > 0; });
  });
}

QueueCounts DiskQueue::counts() const {
  const Lock lock(mutex_);
  QueueCounts counts = counts_;
  for (const auto& segment : segments_) {
    counts.queued_records += segment.records;
    counts.queued_samples += segment.samples;
    counts.queued_bytes += segment.end - segment.read;
  }
  counts.disk_bytes = disk_bytes();
  return counts;
}

}  // namespace assay::promapi
