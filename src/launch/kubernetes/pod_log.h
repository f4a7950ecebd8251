// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <assay/base/files.h>
#include <assay/base/mutex.h>
#include <assay/kubeapi/client.h>
#include <assay/samples/records.h>

namespace assay::launch {

/// Copies what a pod's only container writes into a file, on a thread of its own, from its first
/// line to its last, also when the API server is away for a while. A cluster does not tell output
/// and errors apart.
class PodLog {
 public:
  PodLog(const kubeapi::Access& access, kubeapi::PodName pod, const std::filesystem::path& file);
  PodLog(const PodLog&) = delete;
  PodLog& operator=(const PodLog&) = delete;
  ~PodLog();

  /// The container has ended: waits for the rest while it comes, then gives up on it.
  void finish();
  std::vector<NotMeasured> notes() const;

 private:
  void run(const std::stop_token& token);
  /// Whether all of it has come.
  bool copy(const std::stop_token& token);
  void keep(std::string_view piece);
  void end();

  kubeapi::Client client_;
  const kubeapi::PodName pod_;
  Fd file_;
  net::Stopper stopper_;
  mutable Mutex mutex_;
  std::condition_variable_any changed_;
  uint64_t bytes_ ASSAY_GUARDED_BY(mutex_) = 0;    ///< that have come
  uint64_t dropped_ ASSAY_GUARDED_BY(mutex_) = 0;  ///< of those
  bool over_ ASSAY_GUARDED_BY(mutex_) = false;     ///< nothing is written any more
  bool whole_ ASSAY_GUARDED_BY(mutex_) = false;
  bool rotated_ ASSAY_GUARDED_BY(mutex_) = false;
  bool refused_ ASSAY_GUARDED_BY(mutex_) = false;  ///< asking again does not help
  bool ended_ ASSAY_GUARDED_BY(mutex_) = false;    ///< the thread's work
  std::string trouble_ ASSAY_GUARDED_BY(mutex_);
  std::jthread thread_;  // last: it uses all of the above
};

}  // namespace assay::launch
