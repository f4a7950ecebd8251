// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <mutex>
#include <nlohmann/json_fwd.hpp>

#include <assay/placement/placed.h>
#include <assay/serve/service.h>

namespace assay::serve {

/// Starts models where they should run, one call at a time, as far as the operator lets callers.
/// Thread-safe.
class Deployments {
 public:
  explicit Deployments(const ServiceSettings& settings)
      : image_(settings.deploy_image),
        find_host_(settings.find_host),
        list_workers_(settings.list_workers),
        table_(settings.placed_table) {}

  const std::string& image() const { return image_; }
  /// Holds off other calls; nothing while another one goes on.
  std::unique_lock<std::mutex> begin() { return std::unique_lock(busy_, std::try_to_lock); }
  /// What was measured, or {"error": "why not"}.
  nlohmann::json deploy(placement::PlacingOrder order);
  /// Those that were started and not ended, by whomever; also while others are being started.
  Result<placement::Workers> list() const;
  /// What is being started is ended again.
  void stop() { stopping_ = true; }

 private:
  const std::string image_;
  const placement::FindHost find_host_;
  const placement::ListWorkers list_workers_;
  const std::filesystem::path table_;
  std::mutex busy_;
  std::atomic<bool> stopping_ = false;
};

}  // namespace assay::serve
