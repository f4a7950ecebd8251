// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>
#include <string>

#include <assay/base/time.h>
#include <assay/cluster/trial_runner.h>

namespace assay::cluster::testing {

/// What tests of trials try: a Job with one container.
constexpr const char* kJob = R"(
apiVersion: batch/v1
kind: Job
metadata: {name: train}
spec: {template: {spec: {containers: [{name: main, image: i}]}}}
)";

/// When they begin.
inline const Timestamp kStart = parse_utc("2026-01-01T00:00:00Z").value();

/// A line each second from then on, whose number grows by so much.
inline std::string log_of_steps(int lines, int units) {
  std::string log;
  for (int i = 0; i < lines; ++i)
    log += fmt::format("{} step {}\n", format_utc(kStart + std::chrono::seconds(i)), units * i);
  return log;
}

/// A minute after a warm-up of ten seconds, by what the log counts.
inline TrialSettings short_trials() {
  TrialSettings settings;
  settings.copy.trial = "train";
  settings.copy.name_space = "lab";
  settings.measure = {.log_pattern = "step ([0-9]+)", .log_counts = true};
  settings.time = std::chrono::seconds(60);
  settings.warm_up = std::chrono::seconds(10);
  settings.patience = std::chrono::seconds(30);
  return settings;
}

}  // namespace assay::cluster::testing
