// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <assay/analysis/job_kind.h>
#include <assay/base/result.h>

namespace assay::analysis::testing {

struct RecordedJob {
  std::string file;
  std::string kind;  ///< "training", "inference", "interactive", "preparation"
  std::string program;
  JobSeries series;
};

/// The jobs that `folder`/jobs.csv lists, at one sample a second.
Result<std::vector<RecordedJob>> recorded_jobs(const std::string& folder);

/// As a sampler that is `factor` times slower would have seen it.
JobSeries slower(const JobSeries& job, size_t factor);
JobSeries first_half(const JobSeries& job);

}  // namespace assay::analysis::testing
