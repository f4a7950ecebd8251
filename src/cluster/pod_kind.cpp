// SPDX-License-Identifier: Apache-2.0
#include "pod_kind.h"

#include <algorithm>
#include <vector>

namespace assay::cluster {
namespace {

/// By so much of its probability another kind has to be likelier than the one that was told.
constexpr double kClearlyLikelier = 0.1;

std::vector<double> shares(std::vector<double> percents) {
  for (auto& value : percents) value /= 100;
  return percents;
}

}  // namespace

void take_kind(const analysis::JobKindFinding& finding, Findings& found) {
  for (size_t i = 0; i < analysis::kJobKinds; ++i) {
    const auto kind = static_cast<analysis::JobKind>(i);
    if (found.kind != analysis::name_of(kind) || finding.kind == kind) continue;
    const double other = finding.kind ? finding.confidence : analysis::kLeastConfidence;
    if (finding.probability.at(i) + kClearlyLikelier <= other) continue;
    found.kind_confidence = finding.probability.at(i);
    return;
  }
  found.kind = finding.kind ? analysis::name_of(*finding.kind) : "";
  found.kind_confidence = finding.confidence;
  found.evidence.clear();
  constexpr size_t kMost = 3;
  for (size_t i = 0; i < std::min(kMost, finding.evidence.size()); ++i)
    found.evidence += (i ? "; " : "") + finding.evidence[i].sentence;
}

void tell_kind(const PodSeries& series, double step_seconds, double window_seconds,
               Findings& found) {
  analysis::JobSeries job;
  job.step_seconds = step_seconds;
  job.window_seconds = window_seconds;
  job.cpu_cores = series.cores.values();
  job.memory_bytes = series.memory.values();
  job.disk_read_bytes_per_second = series.read.values();
  job.disk_write_bytes_per_second = series.written.values();
  job.network_receive_bytes_per_second = series.received.values();
  job.network_transmit_bytes_per_second = series.transmitted.values();
  job.gpu_utilization_ratio = shares(series.gpu.values());
  job.gpu_memory_bytes = series.gpu_memory.values();
  take_kind(analysis::kind_of_job(job), found);
}

}  // namespace assay::cluster
