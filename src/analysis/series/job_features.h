// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

#include <assay/analysis/job_kind.h>

namespace assay::analysis {

/// A job in plain numbers after its start-up. NaN: not known, or there was none.
struct JobFacts {
  size_t samples = 0;    ///< with the start-up
  double cpu_swing = 0;  ///< standard deviation by mean
  /// The time of one core, or of the GPU if that does more, is spent idle, waiting or working.
  double idle_share = 0;      ///< in samples with hardly any of the use that it has at work
  double waits_share = 0;     ///< what the other samples leave unused
  double shortest_burst = 0;  ///< between two idle stretches, tenth percentile in seconds
  double longest_burst = 0;   ///< ninetieth
  double gpu_share = 0;       ///< mean utilization
  double gpu_time_share = 0;  ///< of the samples in which it is used at all
  double gpu_memory = 0;
  double memory = 0;
  double read_rate = 0;
  double write_rate = 0;
  double steady_read_rate = 0;    ///< median, which rare large reads do not raise
  double steady_write_rate = 0;   ///< likewise
  double small_result_share = 0;  ///< of the samples: with writes, but far fewer than comes in
  double receive_rate = 0;
  double transmit_rate = 0;
  double answering_share = 0;  ///< of the CPU time: spent while it sends more than requests
  double fetching_share = 0;   ///< of the CPU time: spent while it receives and only asks for more
};

JobFacts facts_of(const JobSeries& job);

enum class JobFeature : uint8_t {
  idle_share,
  waits_share,
  cpu_swing,
  gpu_share,
  steady_reads,
  steady_writes,
  small_results,
  answering,
  fetching,
};
inline constexpr std::array<std::string_view, 9> kJobFeatureNames = {
    "idle_share",    "waits_share",   "cpu_swing", "gpu_share", "steady_reads",
    "steady_writes", "small_results", "answering", "fetching"};
inline constexpr size_t kJobFeatures = kJobFeatureNames.size();
using JobFeatures = std::array<double, kJobFeatures>;  ///< by JobFeature; NaN: not known

/// Shares as they are, rates relative to memory as logarithms, so that what is learned on one
/// machine fits another.
JobFeatures features_of(const JobFacts& facts);

}  // namespace assay::analysis
