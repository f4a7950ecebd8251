// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <fmt/format.h>
#include <pthread.h>
#include <stop_token>
#include <thread>

#include <assay/base/mutex.h>
#include <assay/store/recorder.h>

namespace assay::store {
namespace {

/// Twice a second at the least, with time for the write itself.
constexpr auto kPeriod = Milliseconds(400);
/// Samples that may wait for a slow disk or another program's lock; 16 bytes each, and once more
/// while they are written.
constexpr size_t kMaxWaiting = 1U << 20U;
/// Waiting samples that are worth writing before the period is over.
constexpr size_t kMany = 1U << 16U;
/// What a series is given room for at first: the samples of one period, and of a hiccup.
constexpr size_t kRoom = 64;

constexpr const char* kSource = "store";
constexpr const char* kSlow = "the disk was too slow";
constexpr const char* kLocked = "another program kept the history locked";
constexpr const char* kUnknown = "the series was never declared";

class BufferedRecorder final : public Recorder {
 public:
  BufferedRecorder(Store& store, std::string session_id, int run)
      : store_(store), session_id_(std::move(session_id)), run_(run) {
    // Signals are for the thread that waits for them; a new one inherits what is blocked.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::jthread([this](const std::stop_token& stop) { write_until(stop); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  ~BufferedRecorder() override { stop(); }
  BufferedRecorder(const BufferedRecorder&) = delete;
  BufferedRecorder& operator=(const BufferedRecorder&) = delete;

  SeriesId declare(const SeriesInfo& info) override;
  void sample(SeriesId id, Timestamp time, double value) override;
  void lost(const Loss& loss) override;
  std::optional<Error> error() const override;
  Result<std::vector<Loss>> finish() override;

 private:
  void write_until(const std::stop_token& stop);
  bool take_waiting();
  void write_taken();
  void put_back(uint64_t count) ASSAY_REQUIRES(mutex_);
  void stop();

  Store& store_;
  const std::string session_id_;
  const int run_;
  std::vector<SeriesInfo> declared_;  // the caller's thread only
  std::vector<Series> taken_;         // the writing thread only

  // The mutex is held for moments, never during I/O.
  mutable Mutex mutex_;
  std::condition_variable_any wake_;
  std::vector<Series> waiting_ ASSAY_GUARDED_BY(mutex_);
  size_t waiting_samples_ ASSAY_GUARDED_BY(mutex_) = 0;
  uint64_t too_slow_ ASSAY_GUARDED_BY(mutex_) = 0;
  uint64_t refused_ ASSAY_GUARDED_BY(mutex_) = 0;
  std::vector<Loss> losses_ ASSAY_GUARDED_BY(mutex_);
  std::optional<Error> error_ ASSAY_GUARDED_BY(mutex_);
  std::optional<Error> locked_ ASSAY_GUARDED_BY(mutex_);  // why the last write did not come about
  std::jthread thread_;                                   // last: it uses all of the above
};

Series room_for(const SeriesInfo& info) {
  Series series{info, {}, {}};
  series.times.reserve(kRoom);
  series.values.reserve(kRoom);
  return series;
}

SeriesId BufferedRecorder::declare(const SeriesInfo& info) {
  const auto known = std::find(declared_.begin(), declared_.end(), info);
  const auto index = static_cast<size_t>(known - declared_.begin());
  if (known == declared_.end()) {
    declared_.push_back(info);
    const Lock lock(mutex_);
    waiting_.push_back(room_for(info));
  }
  return SeriesId(index);
}

void BufferedRecorder::sample(SeriesId id, Timestamp time, double value) {
  const auto index = static_cast<size_t>(id);
  bool many = false;
  {
    const Lock lock(mutex_);
    if (error_) {
      ++refused_;
      return;
    }
    if (waiting_samples_ >= kMaxWaiting) {
      ++too_slow_;
      return;
    }
    if (index >= waiting_.size()) {
      add_loss(losses_, {kSource, kUnknown, 1});
      return;
    }
    waiting_[index].times.push_back(std::chrono::floor<std::chrono::microseconds>(time));
    waiting_[index].values.push_back(value);
    many = ++waiting_samples_ == kMany;
  }
  if (many) wake_.notify_one();
}

void BufferedRecorder::lost(const Loss& loss) {
  const Lock lock(mutex_);
  add_loss(losses_, loss);
}

std::optional<Error> BufferedRecorder::error() const {
  const Lock lock(mutex_);
  return error_;
}

/// Exchanges the buffers; true when there is something to write.
bool BufferedRecorder::take_waiting() {
  const Lock lock(mutex_);
  if (waiting_samples_ == 0) return false;
  waiting_samples_ = 0;
  for (size_t i = taken_.size(); i < waiting_.size(); ++i)
    taken_.push_back(room_for(waiting_[i].info));
  taken_.swap(waiting_);
  return true;
}

void BufferedRecorder::write_taken() {
  auto written = store_.append(session_id_, run_, taken_);
  uint64_t count = 0;
  for (const auto& series : taken_) count += series.times.size();
  {
    const Lock lock(mutex_);
    locked_.reset();
    if (!written && written.error().temporary) {
      locked_ = std::move(written).error();
      put_back(count);
    } else if (!written) {
      refused_ += count;
      if (!error_) error_ = std::move(written).error();
    }
  }
  for (auto& series : taken_) {
    series.times.clear();
    series.values.clear();
  }
}

/// Puts what was taken before what came since, for the next write; the oldest go when it is too
/// much.
void BufferedRecorder::put_back(uint64_t count) {
  if (count + waiting_samples_ > kMaxWaiting) {
    add_loss(losses_, {kSource, kLocked, count});
    return;
  }
  for (size_t i = 0; i < taken_.size(); ++i) {
    Series& old = taken_[i];
    Series& later = waiting_[i];
    old.times.insert(old.times.end(), later.times.begin(), later.times.end());
    old.values.insert(old.values.end(), later.values.begin(), later.values.end());
    std::swap(old.times, later.times);
    std::swap(old.values, later.values);
  }
  waiting_samples_ += count;
}

void BufferedRecorder::write_until(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    {
      Lock lock(mutex_);
      const bool retry = locked_.has_value();
      wake_.wait_for(lock, stop, kPeriod, [this, retry]() ASSAY_REQUIRES(mutex_) {
        return waiting_samples_ >= kMany && !retry;
      });
    }
    if (take_waiting()) write_taken();
  }
  if (take_waiting()) write_taken();
}

void BufferedRecorder::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

Result<std::vector<Loss>> BufferedRecorder::finish() {
  stop();
  const Lock lock(mutex_);
  if (error_) {
    return fail(error_->kind,
                fmt::format("{}; {} samples were not kept", error_->message, refused_));
  }
  if (waiting_samples_ > 0 && locked_) {
    return fail(locked_->kind,
                fmt::format("{}; {} samples were not kept", locked_->message, waiting_samples_));
  }
  std::vector<Loss> losses = losses_;
  if (too_slow_ > 0) add_loss(losses, {kSource, kSlow, too_slow_});
  return losses;
}

}  // namespace

std::unique_ptr<Recorder> make_recorder(Store& store, std::string session_id, int run) {
  return std::make_unique<BufferedRecorder>(store, std::move(session_id), run);
}

}  // namespace assay::store
