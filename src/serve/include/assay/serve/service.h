// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <string>

#include <assay/base/result.h>
#include <assay/placement/live.h>
#include <assay/placement/placed.h>

namespace assay::serve {

struct ServiceSettings {
  std::string listen = "127.0.0.1:7000";
  std::string old_listen = {};  ///< of the two old routes, without a token; empty: nowhere
  double old_rate = 100;        ///< requests a second of one caller there

  std::filesystem::path token_file = {};  ///< made where there is none
  std::filesystem::path model_file = {};  ///< of `assay train`; read again when it changes
  std::string shared = {};                ///< a store that has it instead: postgresql://…
  /// Those that were calibrated, beside those learned; asked again at each interval.
  std::function<Result<std::vector<predict::Device>>()> find_devices = {};
  std::filesystem::path uploads = {};  ///< folder of models that callers send
  uint64_t largest_upload = 4ULL << 30U;
  uint64_t uploads_size = 16ULL << 30U;     ///< of the folder, half of it for what is on its way
  uint64_t old_uploads_size = 8ULL << 30U;  ///< of its folder for the old routes, likewise

  promapi::PrometheusAccess prometheus = {};  ///< without a url: the devices of the model file
  placement::JoinRules join = {};
  std::map<std::string, double> loads = {};  ///< of devices, without Prometheus
  Milliseconds interval{5000};               ///< at which nodes are asked for

  std::string deploy_image = {};             ///< of workers; empty: callers may not start models
  placement::FindHost find_host = {};        ///< where they are started
  placement::ListWorkers list_workers = {};  ///< those that were
  std::filesystem::path placed_table = {};   ///< what they really took goes there
};

/// Told what an operator should know, a sentence each.
using Tell = std::function<void(const std::string& sentence)>;

/// Serves until SIGINT or SIGTERM. Fails when it cannot listen.
Result<void> serve(const ServiceSettings& settings, const Tell& tell);

}  // namespace assay::serve
