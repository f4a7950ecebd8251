// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <assay/base/result.h>
#include <assay/base/time.h>
#include <assay/samples/records.h>

namespace assay::launch {

/// What an app reports under one name, as its node's agent has it.
struct AgentReport {
  std::string name;
  std::string unit;
  std::string kind;                      ///< number, rate, counter or timer
  std::optional<double> value;           ///< the last one; none of a timer
  Timestamp time;                        ///< of the last one
  std::map<double, uint64_t> durations;  ///< of a timer: how many were of so many seconds, in all
};

/// One app at the moment at which the agent has read it. Times are on the agent's clock.
struct AgentApp {
  Timestamp started;
  Timestamp read;
  bool running = true;
  bool lower_bound = false;              ///< its counters may lack its last moment
  std::map<std::string, double> totals;  ///< by names of our catalogue, and "oom_kills"
  std::vector<AgentReport> reports;
};

/// Its processor time, and whether it ran out of memory.
void add_used(const AgentApp& app, Exit& exit);

struct AgentAnswer {
  Timestamp time;         ///< at which it was made
  std::string node = {};  ///< what the agent calls its machine
  std::optional<AgentApp> app = {};
};

/// Reads the answer to /api/v1/apps?app=CONTAINER. An error: it is none, or an agent's that is too
/// old. What is not finite or of a wrong type is left out.
Result<AgentAnswer> read_agent_answer(std::string_view text, const std::string& container_id);

}  // namespace assay::launch
