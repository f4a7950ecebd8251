// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "learned_source.h"

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include <assay/base/mutex.h>
#include <assay/net/http_client.h>
#include <assay/placement/live.h>
#include <assay/predict/predictor.h>
#include <assay/serve/service.h>

namespace assay::serve {

/// What answers are made of at one moment.
struct Snapshot {
  std::shared_ptr<const predict::Predictor> predictor;  ///< nothing: see problem
  placement::Fleet fleet;
  std::string problem;  ///< why nothing can be answered, in words for callers; empty: it can
  std::chrono::steady_clock::time_point read = {};  ///< when the nodes were asked for
};

/// Keeps the newest snapshot. A thread of its own reads the model file when it has changed and asks
/// Prometheus for the nodes.
class State {
 public:
  /// Reads everything once before it returns.
  State(const ServiceSettings& settings, Tell tell);
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State();

  /// Thread-safe; never nothing.
  std::shared_ptr<const Snapshot> now() const;

 private:
  void keep_reading(const std::stop_token& stop);
  void refresh();
  void read_devices();
  void read_predictor();
  void read_fleet(Snapshot& next);
  void say(const std::string& sentence);

  const ServiceSettings& settings_;
  Tell tell_;
  LearnedSource source_;
  std::optional<promapi::Queries> queries_;
  std::vector<predict::Device> devices_;
  std::string devices_warning_;
  std::shared_ptr<const predict::Predictor> predictor_;
  std::string predictor_problem_;
  std::string warning_;     ///< what a newer one lacks, while an older one serves
  placement::Fleet fleet_;  ///< the last that was read
  std::optional<std::chrono::steady_clock::time_point> fleet_time_;
  std::string last_said_;

  net::Stopper stopper_;  ///< of questions to Prometheus
  mutable Mutex mutex_;
  std::shared_ptr<const Snapshot> snapshot_ ASSAY_GUARDED_BY(mutex_);
  std::condition_variable_any stopped_;
  std::jthread thread_;
};

}  // namespace assay::serve
