// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include <assay/base/result.h>
#include <assay/base/time.h>
#include <assay/kubeapi/access.h>
#include <assay/net/http_client.h>
#include <assay/promapi/query.h>

namespace assay::cluster {

struct ProfilerSettings {
  kubeapi::Access cluster = {};
  promapi::PrometheusAccess prometheus = {};
  std::string listen = "127.0.0.1:9411";  ///< of /metrics and /healthz; empty: nobody is told
  Milliseconds interval{30'000};
  std::string domain = "ai.centaurus.io";  ///< of the annotations
  std::string gpu_resource = "nvidia.com/gpu";
  std::string lease_namespace = {};  ///< where replicas agree who writes; empty: there is only one
  std::string identity = {};         ///< of this replica
  double requests_per_second = 20;   ///< to the API server, at most
  std::string history = {};          ///< a file, or postgresql://; empty: none is kept
  Nanoseconds keep{std::chrono::hours(24 * 90)};
  int rounds = 0;  ///< after which it ends; 0: never
  /// For what stands between pods and their jobs, where nobody lets us list it.
  Milliseconds owners_patience{10'000};
  Milliseconds patience{30'000};  ///< for nodes and pods; then it gives up, or says that it goes on
};

/// Told what happens, in sentences; from several threads, but never two at once.
using Tell = std::function<void(const std::string& sentence)>;

/// Profiles a cluster until the stopper ends it: reads, understands and annotates, round after
/// round. What does not answer is tried again in the next round. False: it was stopped before all
/// the rounds that were asked for. An error: rounds are counted, and the cluster does not tell of
/// its nodes and pods, so that the first cannot begin.
Result<bool> profile(const ProfilerSettings& settings, const Tell& tell, net::Stopper& stopper);

/// Takes away every annotation that was written in our name; gives the number of objects.
Result<size_t> clean(const ProfilerSettings& settings, const Tell& tell, net::Stopper& stopper);

}  // namespace assay::cluster
