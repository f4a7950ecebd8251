// SPDX-License-Identifier: Apache-2.0
#include "remote_writer.h"

#include <condition_variable>
#include <fmt/format.h>
#include <random>
#include <thread>

#include <assay/base/quiet_thread.h>

namespace assay::promapi {
namespace {

Result<void> check(const RemoteWriteOptions& options) {
  if (!options.url.starts_with("http://") && !options.url.starts_with("https://"))
    return bad_input(fmt::format("remote write: '{}' has to begin with http:// or https://",
                                 net::shown_url(options.url)));
  if (!options.bearer_token_file.empty() && !options.basic_auth_file.empty())
    return bad_input("remote write: name a bearer token file or a basic auth file, not both");
  if (options.first_wait.count() <= 0 || options.longest_wait < options.first_wait)
    return bad_input("remote write: the first wait has to be above 0 and not above the longest");
  return {};
}

class ThreadedSender final : public RemoteWriteSender {
 public:
  ThreadedSender(const RemoteWriteOptions& options, DiskQueue& queue, const Clock& clock, Tell tell)
      : queue_(queue), writer_(options, queue, clock, std::move(tell), std::random_device{}()) {
    thread_ = quiet_thread([this](const std::stop_token& stop) { run(stop); });
  }
  ThreadedSender(const ThreadedSender&) = delete;
  ThreadedSender& operator=(const ThreadedSender&) = delete;
  ~ThreadedSender() override {
    thread_.request_stop();
    stopper_.stop();
  }

  RemoteWriteStatus status() const override { return writer_.status(); }

 private:
  void run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      if (const auto wait = writer_.step(stopper_)) {
        sleep(stop, *wait);
      } else {
        queue_.wait(stop);
      }
    }
  }
  void sleep(const std::stop_token& stop, Milliseconds time) {
    if (time.count() == 0) return;
    Lock lock(mutex_);
    never_.wait_for(lock, stop, time, [] { return false; });
  }

  DiskQueue& queue_;
  net::Stopper stopper_;
  RemoteWriter writer_;
  Mutex mutex_;
  std::condition_variable_any never_;  ///< but when stopped
  std::jthread thread_;                ///< last: it uses all of the above
};

}  // namespace

Result<std::unique_ptr<RemoteWriteSender>> RemoteWriteSender::start(
    const RemoteWriteOptions& options, DiskQueue& queue, const Clock& clock, Tell tell) {
  ASSAY_CHECK(check(options));
  return std::make_unique<ThreadedSender>(options, queue, clock, std::move(tell));
}

}  // namespace assay::promapi
