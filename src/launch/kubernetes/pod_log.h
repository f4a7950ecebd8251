// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <filesystem>
#include <thread>
#include <vector>

#include <assay/base/files.h>
#include <assay/kubeapi/client.h>
#include <assay/samples/records.h>

namespace assay::launch {

/// Copies what a pod's only container writes into a file, on a thread of its own, from its first
/// line to its last. A cluster does not tell output and errors apart.
class PodLog {
 public:
  PodLog(const kubeapi::Access& access, kubeapi::PodName pod, const std::filesystem::path& file);
  PodLog(const PodLog&) = delete;
  PodLog& operator=(const PodLog&) = delete;
  ~PodLog();

  /// Waits a while for the rest, then gives up on it.
  void finish();
  std::vector<NotMeasured> notes() const;

 private:
  void run(const std::stop_token& token);

  kubeapi::Client client_;
  const kubeapi::PodName pod_;
  Fd file_;
  net::Stopper stopper_;
  std::atomic<bool> whole_ = false;
  std::atomic<bool> ended_ = false;
  std::atomic<uint64_t> dropped_ = 0;
  std::jthread thread_;  // last: it uses all of the above
};

}  // namespace assay::launch
