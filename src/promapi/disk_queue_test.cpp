// SPDX-License-Identifier: Apache-2.0
#include "segment.h"
#include "testing/temp_folder.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <fmt/format.h>
#include <fstream>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <assay/promapi/disk_queue.h>
#include <gtest/gtest.h>

namespace assay::promapi {
namespace {

namespace fs = std::filesystem;
using testing::TempFolder;

std::unique_ptr<DiskQueue> opened(const fs::path& folder, const QueueLimits& limits = {}) {
  auto queue = DiskQueue::open(folder, limits);
  EXPECT_TRUE(queue) << queue.error().message;
  return queue ? std::move(*queue) : nullptr;
}

std::vector<fs::path> files_of(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

uint64_t bytes_of(const fs::path& folder) {
  uint64_t sum = 0;
  for (const auto& file : files_of(folder)) sum += fs::file_size(file);
  return sum;
}

/// Everything that is queued, in order.
std::vector<std::string> drained(DiskQueue& queue) {
  std::vector<std::string> records;
  while (const auto record = queue.front()) {
    records.push_back(record->bytes);
    queue.done();
  }
  return records;
}

using Records = std::vector<std::string>;

TEST(DiskQueue, GivesRecordsInOrderAndForgetsWhatIsDone) {
  const TempFolder folder;
  const auto queue = opened(folder.path());
  EXPECT_FALSE(queue->front());
  ASSERT_TRUE(queue->push("one", 1));
  ASSERT_TRUE(queue->push("", 2));
  ASSERT_TRUE(queue->push(std::string("thr\0ee", 6), 3));
  EXPECT_EQ(queue->front()->bytes, "one");
  EXPECT_EQ(queue->front()->bytes, "one") << "until it is done";
  EXPECT_EQ(queue->counts().queued_samples, 6U);
  queue->done();
  EXPECT_EQ(queue->front()->samples, 2U);
  queue->done();
  queue->done();
  EXPECT_EQ(queue->front()->bytes, std::string("thr\0ee", 6)) << "a second done() is none";
  queue->done();
  EXPECT_FALSE(queue->front());
  EXPECT_EQ(queue->counts().queued_records, 0U);
  EXPECT_EQ(queue->counts().queued_bytes, 0U);
}

TEST(DiskQueue, GoesOnWhereTheLastProcessWas) {
  const TempFolder folder;
  {
    const auto queue = opened(folder.path());
    for (const char* text : {"a", "b", "c"}) ASSERT_TRUE(queue->push(text, 1));
    ASSERT_TRUE(queue->front());
    queue->done();
    EXPECT_EQ(queue->front()->bytes, "b") << "taken, not done: comes again";
  }
  const auto queue = opened(folder.path());
  ASSERT_TRUE(queue->push("d", 1));
  EXPECT_EQ(queue->counts().queued_samples, 3U);
  EXPECT_EQ(drained(*queue), (Records{"b", "c", "d"}));
  EXPECT_EQ(queue->counts().damaged, 0U);
}

TEST(DiskQueue, FilesThatAreDoneGoAway) {
  const TempFolder folder;
  const auto queue = opened(folder.path(), {.bytes = 1U << 20U, .segment_bytes = 1000});
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(queue->push(std::string(400, 'x'), 1));
  EXPECT_EQ(files_of(folder.path()).size(), 50U);
  EXPECT_EQ(drained(*queue).size(), 100U);
  EXPECT_EQ(files_of(folder.path()).size(), 1U) << "the one that is written";
}

TEST(DiskQueue, StaysWithinItsBoundAndLosesTheOldestWholeFiles) {
  const TempFolder folder;
  const QueueLimits limits{.bytes = 64U << 10U, .segment_bytes = 8U << 10U};
  const auto queue = opened(folder.path(), limits);
  for (int i = 0; i < 1000; ++i) {
    const auto size = static_cast<size_t>(i * 37 % 3000);
    ASSERT_TRUE(queue->push(fmt::format("{:04} {}", i, std::string(size, 'x')), 3));
    ASSERT_LE(bytes_of(folder.path()), limits.bytes);
    ASSERT_LE(queue->counts().disk_bytes, limits.bytes);
  }
  const QueueCounts counts = queue->counts();
  EXPECT_EQ(counts.queued_samples + counts.lost_samples, 3000U);
  const auto left = drained(*queue);
  ASSERT_EQ(left.size(), counts.queued_records);
  for (size_t i = 0; i < left.size(); ++i)
    EXPECT_EQ(left[i].substr(0, 4), fmt::format("{:04}", 1000 - left.size() + i));
  EXPECT_GT(counts.queued_bytes, limits.bytes / 2) << "room is not wasted";
}

TEST(DiskQueue, ManySmallFilesAreBoundToo) {
  const TempFolder folder;
  for (int i = 0; i < 40; ++i) ASSERT_TRUE(opened(folder.path(), {.bytes = 1})->push("x", 1));
  EXPECT_EQ(files_of(folder.path()).size(), 16U) << "blocks of 4 KiB in the least bound of 64 KiB";
}

TEST(DiskQueue, ARecordThatIsBeingSentWhenItsFileGoesIsNotLost) {
  const TempFolder folder;
  const auto queue = opened(folder.path(), {.bytes = 64U << 10U, .segment_bytes = 8U << 10U});
  ASSERT_TRUE(queue->push("first", 10));
  ASSERT_TRUE(queue->front());
  uint64_t pushed = 10;
  while (files_of(folder.path()).front().filename() == "00000000000000000001.queue") {
    ASSERT_TRUE(queue->push(std::string(4000, 'x'), 1));
    ++pushed;
  }
  queue->done();
  EXPECT_EQ(queue->counts().queued_samples + queue->counts().lost_samples, pushed - 10);
}

TEST(DiskQueue, ARecordThatWasNotSentWhenItsFileWentIsLost) {
  const TempFolder folder;
  const auto queue = opened(folder.path(), {.bytes = 64U << 10U, .segment_bytes = 8U << 10U});
  ASSERT_TRUE(queue->push("first", 10));
  ASSERT_TRUE(queue->front());
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(queue->push(std::string(8000, 'x'), 1));
  EXPECT_NE(queue->front()->bytes, "first");
  EXPECT_EQ(queue->counts().queued_samples + queue->counts().lost_samples, 30U);
}

TEST(DiskQueue, ARecordLargerThanAFileHasOneOfItsOwn) {
  const TempFolder folder;
  const auto queue = opened(folder.path(), {.bytes = 64U << 10U, .segment_bytes = 100});
  const Records records{"a", std::string(40'000, 'x'), "b"};
  for (const auto& record : records) ASSERT_TRUE(queue->push(record, 1));
  EXPECT_EQ(drained(*queue), records);
  const auto pushed = queue->push(std::string(70'000, 'x'), 7);
  ASSERT_FALSE(pushed);
  EXPECT_EQ(pushed.error().kind, ErrorKind::input);
  EXPECT_EQ(queue->counts().refused_samples, 7U);
}

TEST(DiskQueue, AnotherProcessIsRefused) {
  const TempFolder folder;
  const auto queue = opened(folder.path());
  const auto other = DiskQueue::open(folder.path());
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().message.find("used by another process"), std::string::npos);
}

/// A queue's only file as a crash could have left it.
class TornFile : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto queue = opened(folder_.path());
    for (const char* text : {"first", "second", "third"}) ASSERT_TRUE(queue->push(text, 1));
    file_ = files_of(folder_.path()).front();
    whole_ = *read_file(file_);
  }
  void leave(std::string_view bytes) {
    std::ofstream(file_, std::ios::binary | std::ios::trunc) << bytes;
  }
  /// What a new process finds.
  Records found() {
    const auto queue = opened(folder_.path());
    damaged_ = queue->counts().damaged;
    EXPECT_TRUE(queue->push("new", 1));
    return drained(*queue);
  }

  TempFolder folder_;
  fs::path file_;
  std::string whole_;
  uint64_t damaged_ = 0;
};

TEST_F(TornFile, AtAnyByteLosesOnlyWhatWasTorn) {
  const size_t first = kSegmentHead + kRecordHead + 5;
  const size_t second = first + kRecordHead + 6;
  const size_t third = second + kRecordHead + 5;
  ASSERT_EQ(whole_.size(), third);
  for (size_t size = 0; size <= third; ++size) {
    leave(whole_.substr(0, size));
    Records expected;
    if (size >= first) expected.emplace_back("first");
    if (size >= second) expected.emplace_back("second");
    if (size >= third) expected.emplace_back("third");
    expected.emplace_back("new");
    EXPECT_EQ(found(), expected) << size;
    const bool clean =
        size == 0 || size == kSegmentHead || size == first || size == second || size == third;
    EXPECT_EQ(damaged_, clean ? 0U : 1U) << size;
  }
}

TEST_F(TornFile, WithZerosAtItsEndAsAfterAPowerCut) {
  leave(whole_ + std::string(4096, '\0'));
  EXPECT_EQ(found(), (Records{"first", "second", "third", "new"}));
  EXPECT_EQ(damaged_, 1U);
}

TEST_F(TornFile, WithAChangedByteIsReadUpToThere) {
  for (size_t at = kSegmentHead + kRecordHead + 5; at < whole_.size(); ++at) {
    std::string changed = whole_;
    changed[at] = static_cast<char>(changed[at] ^ 0x20);
    leave(changed);
    const Records records = found();
    ASSERT_GE(records.size(), 2U) << at;
    EXPECT_EQ(records.front(), "first");
    EXPECT_LT(records.size(), 4U) << at;
    EXPECT_EQ(damaged_, 1U);
  }
}

TEST_F(TornFile, WithAnOffsetThatIsNoRecordsBeginningIsSentAgain) {
  std::string changed = whole_;
  changed.replace(kDoneOffset, 8, done_bytes(kSegmentHead + 3));
  leave(changed);
  EXPECT_EQ(found(), (Records{"first", "second", "third", "new"}));
}

TEST_F(TornFile, OfSomebodyElseIsCounted) {
  leave("this is no queue, however long it may be");
  EXPECT_EQ(found(), (Records{"new"}));
  EXPECT_EQ(damaged_, 1U);
}

TEST_F(TornFile, ThatChangesWhileTheQueueIsOpenIsGivenUp) {
  const auto queue = opened(folder_.path());
  std::string changed = whole_;
  changed.back() = 'x';
  leave(changed);
  EXPECT_EQ(drained(*queue), (Records{"first", "second"}));
  EXPECT_EQ(queue->counts().damaged, 1U);
  EXPECT_EQ(queue->counts().lost_samples, 1U);
}

/// Limits the size of files, which the kernel then answers as it does on a full disk.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) {
    std::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;
  ~FullDisk() { ::setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

TEST(DiskQueue, AFullDiskIsToldAndLosesOnlyTheNewest) {
  const TempFolder folder;
  const auto queue = opened(folder.path());
  ASSERT_TRUE(queue->push("old", 1));
  {
    const FullDisk full(1000);
    const auto pushed = queue->push(std::string(5000, 'x'), 7);
    ASSERT_FALSE(pushed);
    EXPECT_NE(pushed.error().message.find(folder.path().native()), std::string::npos);
    ASSERT_TRUE(queue->push("fits", 1)) << "what was written of the large one is gone";
  }
  ASSERT_TRUE(queue->push("new", 1));
  EXPECT_EQ(queue->counts().refused_samples, 7U);
  EXPECT_EQ(queue->counts().lost_samples, 0U);
  EXPECT_EQ(drained(*queue), (Records{"old", "fits", "new"}));
}

TEST(DiskQueue, ADiskTooFullForANewFileIsToldAndLeavesNone) {
  const TempFolder folder;
  const auto queue = opened(folder.path());
  {
    const FullDisk full(kSegmentHead - 1);
    EXPECT_FALSE(queue->push("x", 1));
  }
  EXPECT_TRUE(files_of(folder.path()).empty());
  ASSERT_TRUE(queue->push("new", 1));
  EXPECT_EQ(drained(*queue), (Records{"new"}));
}

TEST(DiskQueue, WaitEndsWithARecordAndWithAStop) {
  const TempFolder folder;
  const auto queue = opened(folder.path());
  bool first = false;
  bool second = true;
  std::jthread taker([&](const std::stop_token& stop) {
    first = queue->wait(stop);
    drained(*queue);
    second = queue->wait(stop);
  });
  ASSERT_TRUE(queue->push("x", 1));
  while (queue->counts().queued_records > 0) std::this_thread::yield();
  taker.request_stop();
  taker.join();
  EXPECT_TRUE(first);
  EXPECT_FALSE(second);
}

/// Pushes numbered records and tells each number once it is pushed, until it is killed.
[[noreturn]] void push_forever(const fs::path& folder, int told) {
  const auto queue = opened(folder, {.bytes = 64U << 20U, .segment_bytes = 64U << 10U});
  for (uint32_t i = 0;; ++i) {
    const std::string text = fmt::format("{} {}", i, std::string(i % 5000, 'x'));
    if (!queue->push(text, 1) || ::write(told, &i, sizeof i) != sizeof i) std::_Exit(1);
  }
}

TEST(DiskQueue, AKilledProcessLosesNothingThatWasPushed) {
  const TempFolder folder;
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe(pipe.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) push_forever(folder.path(), pipe[1]);
  ::close(pipe[1]);
  const Fd reader(pipe[0]);
  uint32_t last = 0;
  while (last < 3000 && ::read(reader.get(), &last, sizeof last) == sizeof last) {
  }
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  while (::read(reader.get(), &last, sizeof last) == sizeof last) {
  }
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  const auto queue = opened(folder.path());
  const auto records = drained(*queue);
  ASSERT_GE(records.size(), last + 1U);
  for (size_t i = 0; i < records.size(); ++i)
    ASSERT_EQ(records[i], fmt::format("{} {}", i, std::string(i % 5000, 'x')));
}

}  // namespace
}  // namespace assay::promapi
