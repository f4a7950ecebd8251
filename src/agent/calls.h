// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "control.h"

#include <string>
#include <vector>

#include <assay/agent/agent.h>
#include <assay/base/result.h>

/// The bodies of calls that change something, from JSON (docs/agent.md). What is no such body is an
/// error that says what is wrong with it.
namespace assay::agent {

struct GoalsCall {
  std::string app;  ///< path, id or name
  std::vector<Goal> goals;
};
Result<GoalsCall> parse_goals_call(const std::string& body);

struct LimitsCall {
  std::string app;
  LimitChange change;
};
Result<LimitsCall> parse_limits_call(const std::string& body);

struct IntervalCall {
  std::string app;
  Milliseconds interval{};
  Nanoseconds length{};
};
Result<IntervalCall> parse_interval_call(const std::string& body);

struct CaptureCall {
  std::string app;
  CaptureRequest request;
};
Result<CaptureCall> parse_capture_call(const std::string& body);

}  // namespace assay::agent
