// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::analysis {

enum class JobKind : uint8_t {
  training,     ///< parameters of a model are fitted, over and over
  inference,    ///< a fixed model answers
  interactive,  ///< a human decides when the next piece runs
  preparation,  ///< data becomes other data for later use
};
inline constexpr size_t kJobKinds = 4;
/// "training", "inference", "interactive", "data preparation".
std::string_view name_of(JobKind kind);

/// What a job used, from its start, in even steps of 1 to 30 s (finer ones are averaged first).
/// Values that are not finite are missing ones; an empty series is not known and speaks for no
/// kind, so that "no GPU there" is better told by zeros.
struct JobSeries {
  double step_seconds = 1;
  double window_seconds = 0;  ///< rates are means of so long, where that is more than a step
  std::vector<double> cpu_cores = {};
  std::vector<double> memory_bytes = {};
  std::vector<double> disk_read_bytes_per_second = {};
  std::vector<double> disk_write_bytes_per_second = {};
  std::vector<double> network_receive_bytes_per_second = {};
  std::vector<double> network_transmit_bytes_per_second = {};
  std::vector<double> gpu_utilization_ratio = {};  ///< 0 to 1
  std::vector<double> gpu_memory_bytes = {};
};

struct JobEvidence {
  std::string sentence;  ///< plain, with the number in it, without a capital or full stop
  double strength = 0;   ///< what it adds to the log-odds of the kind against an average one
};

struct JobKindFinding {
  /// Nothing: it cannot be told, because the job is too short or resembles several kinds alike.
  std::optional<JobKind> kind;
  double confidence = 0;                        ///< probability of the likeliest kind
  std::array<double, kJobKinds> probability{};  ///< by JobKind; all zero when too short
  std::vector<JobEvidence> evidence;            ///< for the likeliest kind, strongest first
};

/// Below this no kind is told.
inline constexpr double kLeastConfidence = 0.45;
inline constexpr size_t kFewestSamples = 20;

/// Tells the kind of a job by how it uses the machine, with a logistic regression over nine
/// shares and ratios; its weights are learned from recorded jobs (tests/recordings/jobs): some for
/// series that show each second or few, others for those that show means of half a minute and more,
/// in which pauses are not seen any more. The start-up is left out: the first 15 %, ten minutes at
/// most.
JobKindFinding kind_of_job(const JobSeries& job);

}  // namespace assay::analysis
