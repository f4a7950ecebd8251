// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <assay/base/result.h>
#include <assay/base/time.h>
#include <assay/samples/records.h>

namespace assay::launch {

/// The pod of a run's Job.
struct JobPod {
  enum class State : uint8_t {
    absent,    ///< not made yet, or gone
    waiting,   ///< `trouble` says for what
    hopeless,  ///< it will never run: `trouble` says why
    running,
    ended,
    unseen,  ///< it may run: `trouble` says why nobody can look
  };
  State state = State::absent;
  std::string name = {};
  std::string node = {};
  std::string container_id = {};  ///< in 64 digits; empty: not started yet
  std::string trouble = {};
  std::optional<Timestamp> started = {};  ///< on the node's clock, in whole seconds
  std::optional<Timestamp> ended = {};
  std::optional<int> code = {};
  std::string reason = {};  ///< of its end: "Completed", "Error", "OOMKilled", "DeadlineExceeded"
  bool deleted = false;     ///< it goes as soon as its node has ended it
};

/// The pod of that name in a list, or without a name the newest one: of a pod that somebody deletes
/// a Job makes another, in which the app would begin anew. An error: the text is no list of pods.
Result<JobPod> read_job_pod(std::string_view list, const std::string& name = "");

/// How it ended, in the words of any other run.
Exit exit_of(const JobPod& pod, std::optional<uint64_t> memory_limit);

/// Why a Job gets no pod, from the cluster's events about it; empty: nothing is told.
std::string why_no_pod(std::string_view events);

}  // namespace assay::launch
