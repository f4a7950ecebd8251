// SPDX-License-Identifier: Apache-2.0
#include "kubernetes/pod_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <assay/base/quiet_thread.h>

namespace assay::launch {
namespace {

constexpr int kTries = 3;
constexpr int kMostLooksAtTheEnd = 50;
constexpr useconds_t kPause = 100'000;

}  // namespace

PodLog::PodLog(const kubeapi::Access& access, kubeapi::PodName pod,
               const std::filesystem::path& file)
    : client_(access),
      pod_(std::move(pod)),
      file_(::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)),
      thread_(quiet_thread([this](const std::stop_token& token) { run(token); })) {}

PodLog::~PodLog() {
  thread_.request_stop();
  stopper_.stop();
}

void PodLog::run(const std::stop_token& token) {
  const kubeapi::Call call = {
      .path = fmt::format("/api/v1/namespaces/{}/pods/{}/log?follow=true",
                          net::url_encoded(pod_.name_space), net::url_encoded(pod_.name)),
      .accept = "*/*",
      .patience = Milliseconds(0)};
  for (int attempt = 0; attempt < kTries && !token.stop_requested() && !whole_; ++attempt) {
    // A stream that broke begins anew: nothing is twice in the file.
    if (::ftruncate(file_.get(), 0) == 0) (void)::lseek(file_.get(), 0, SEEK_SET);
    const auto take = [&](std::string_view piece) {
      const ssize_t written = ::write(file_.get(), piece.data(), piece.size());
      dropped_ += piece.size() - static_cast<size_t>(std::max<ssize_t>(written, 0));
      return !token.stop_requested();
    };
    const auto response = client_.stream(call, take, stopper_);
    whole_ = response && response->ok() && !token.stop_requested();
    if (!whole_) ::usleep(kPause);
  }
  ended_ = true;
}

void PodLog::finish() {
  for (int look = 0; look < kMostLooksAtTheEnd && !ended_; ++look) ::usleep(kPause);
  stopper_.stop();
}

std::vector<NotMeasured> PodLog::notes() const {
  std::vector<NotMeasured> all;
  if (ended_ && !whole_) all.push_back({"app's output", "the cluster did not give all of it"});
  if (dropped_ > 0)
    all.push_back({"app's output", fmt::format("{} bytes could not be written: is the disk full?",
                                               dropped_.load())});
  return all;
}

}  // namespace assay::launch
