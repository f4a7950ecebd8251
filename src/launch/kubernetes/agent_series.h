// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kubernetes/agent_answer.h"
#include "kubernetes/clock_offset.h"

#include <map>
#include <string>

#include <assay/samples/series.h>

namespace assay::launch {

/// Makes of what an agent tells about an app the series that a run on this machine has, at times of
/// our clock. Durations come as events at the time of the last one, within 1 %. Used from one
/// thread.
class AgentSeries {
 public:
  /// `who` is "agent on NODE".
  explicit AgentSeries(std::string who) : who_(std::move(who)) {}

  /// What was told before is not told again.
  void push(const AgentApp& app, const ClockOffset& clock, SampleSink& sink);

 private:
  struct Line {
    SeriesId id{};
    Timestamp last;
  };
  Line* line_of(const std::string& name, Timestamp started, SampleSink& sink);
  void push_report(const AgentReport& report, const ClockOffset& clock, SampleSink& sink);
  void push_durations(const AgentReport& report, Timestamp time, Line& line, SampleSink& sink);

  std::string who_;
  std::optional<Timestamp> read_;  ///< on the agent's clock
  std::map<std::string, Line> totals_;
  std::map<std::string, Line> reports_;
  std::map<std::string, Timestamp> reported_;  ///< on the agent's clock
  std::map<std::string, std::map<double, uint64_t>> durations_;
};

}  // namespace assay::launch
