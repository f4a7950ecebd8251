// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <assay/base/result.h>
#include <assay/base/time.h>
#include <assay/launch/jobs.h>
#include <assay/samples/records.h>
#include <assay/samples/series.h>

namespace assay::launch {

/// One container that somebody else started, as the agent of its node tells of it. All times are of
/// our clock. One thread at a time, but several watches may be asked at once.
class AgentWatch {
 public:
  virtual ~AgentWatch() = default;
  /// Asks once and pushes what is new; whether the agent knows the container by now. Waits two
  /// seconds at most, or as long as its settings say where that is less, but for a program that
  /// logs in anew, which is waited for as long as it is wanted. An error is one sentence that names
  /// the node.
  virtual Result<bool> look(SampleSink& sink) = 0;
  /// Nothing: the agent has not seen it.
  virtual std::optional<Timestamp> started() const = 0;
  /// Nothing: it runs, or the agent has not read it at its end.
  virtual std::optional<Timestamp> ended() const = 0;
  /// Processor time, and whether it ran out of memory, by what was told last.
  virtual Exit used() const = 0;
  virtual Elsewhere elsewhere() const = 0;
};

/// The agents of a cluster's nodes. One thread at a time.
class Agents {
 public:
  virtual ~Agents() = default;
  /// From now on. An error: no agent is there, or nobody may look.
  virtual Result<std::unique_ptr<AgentWatch>> watch(const std::string& node,
                                                    const std::string& container_id) = 0;
  /// What the cluster knows of a node; only its name where it does not answer.
  virtual Device device(const std::string& node) = 0;
};

/// Of the settings, only the cluster and where its agents are count. Asks nobody yet; the clock has
/// to live longer, also than what is watched. `wanted` is asked several times a second while an
/// answer is waited for, by all threads that wait; false ends the waiting.
std::unique_ptr<Agents> open_agents(JobSettings settings, const Clock& clock,
                                    StillWanted wanted = {});

}  // namespace assay::launch
