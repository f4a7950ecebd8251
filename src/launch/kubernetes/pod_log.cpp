// SPDX-License-Identifier: Apache-2.0
#include "kubernetes/pod_log.h"

#include <algorithm>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <assay/base/quiet_thread.h>

namespace assay::launch {
namespace {

constexpr Milliseconds kPause{500};
/// Between the end of the log and the word that its app has ended.
constexpr Milliseconds kNewsOfTheEnd{3000};
/// At the end, while nothing comes ...
constexpr Milliseconds kSilence{5000};
/// ... and in all.
constexpr Milliseconds kLongestEnd{60'000};

std::string why_not(const Result<net::Response>& response) {
  if (!response) return response.error().message;
  if (response->status == 403) return "your account may not get pods/log";
  return fmt::format("the API server answers with status {}", response->status);
}

}  // namespace

PodLog::PodLog(const kubeapi::Access& access, kubeapi::PodName pod,
               const std::filesystem::path& file)
    : client_(access),
      pod_(std::move(pod)),
      file_(::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)),
      thread_(quiet_thread([this](const std::stop_token& token) { run(token); })) {}

PodLog::~PodLog() {
  end();
}

void PodLog::end() {
  thread_.request_stop();
  stopper_.stop();
  if (thread_.joinable()) thread_.join();
}

void PodLog::keep(std::string_view piece) {
  const ssize_t written = ::write(file_.get(), piece.data(), piece.size());
  const Lock lock(mutex_);
  bytes_ += piece.size();
  dropped_ += piece.size() - static_cast<size_t>(std::max<ssize_t>(written, 0));
  changed_.notify_all();
}

bool PodLog::copy(const std::stop_token& token) {
  const kubeapi::Call call = {
      .path = fmt::format("/api/v1/namespaces/{}/pods/{}/log?follow=true",
                          net::url_encoded(pod_.name_space), net::url_encoded(pod_.name)),
      .accept = "*/*",
      .patience = Milliseconds(0)};
  // Each stream begins with the first line that the node still has: nothing is twice in the file.
  uint64_t known = 0;
  {
    const Lock lock(mutex_);
    known = bytes_;
  }
  const auto take = [&](std::string_view piece) {
    const size_t again = std::min<uint64_t>(known, piece.size());
    known -= again;
    if (again < piece.size()) keep(piece.substr(again));
    return !token.stop_requested();
  };
  const auto response = client_.stream(call, take, stopper_);
  if (token.stop_requested()) return false;
  const bool whole = response && response->ok();
  const Lock lock(mutex_);
  trouble_ = whole ? "" : why_not(response);
  refused_ = response && response->status >= 400 && response->status < 429;
  rotated_ |= whole && known > 0;
  return whole;
}

void PodLog::run(const std::stop_token& token) {
  while (!token.stop_requested()) {
    const bool whole = copy(token);
    Lock lock(mutex_);
    if (whole) {
      // A stream also ends when a server on its way is started again, and the app goes on.
      whole_ = changed_.wait_for(lock, token, kNewsOfTheEnd,
                                 [this]() ASSAY_REQUIRES(mutex_) { return over_; });
      if (whole_) break;
    } else if (changed_.wait_for(lock, token, kPause,
                                 [this]() ASSAY_REQUIRES(mutex_) { return over_ && refused_; })) {
      break;
    }
  }
  const Lock lock(mutex_);
  ended_ = true;
  changed_.notify_all();
}

void PodLog::finish() {
  const auto give_up = std::chrono::steady_clock::now() + kLongestEnd;
  {
    Lock lock(mutex_);
    over_ = true;
    changed_.notify_all();
    for (uint64_t seen = bytes_;; seen = bytes_) {
      const bool news = changed_.wait_for(
          lock, kSilence, [&]() ASSAY_REQUIRES(mutex_) { return ended_ || bytes_ != seen; });
      if (ended_ || !news || std::chrono::steady_clock::now() > give_up) break;
    }
  }
  end();
}

std::vector<NotMeasured> PodLog::notes() const {
  const Lock lock(mutex_);
  std::vector<NotMeasured> all;
  if (ended_ && !whole_)
    all.push_back({"app's output", trouble_.empty()
                                       ? "the cluster did not give all of it in time"
                                       : "the cluster did not give all of it: " + trouble_});
  if (rotated_)
    all.push_back({"app's output", "the node has begun a new log: a part of it is missing"});
  if (dropped_ > 0)
    all.push_back({"app's output",
                   fmt::format("{} bytes could not be written: is the disk full?", dropped_)});
  return all;
}

}  // namespace assay::launch
