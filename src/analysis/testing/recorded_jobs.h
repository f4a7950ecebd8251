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

/// The jobs that `folder`/jobs.csv lists.
Result<std::vector<RecordedJob>> recorded_jobs(const std::string& folder);

/// As a sampler that is `factor` times slower would have seen it.
JobSeries slower(const JobSeries& job, size_t factor);
JobSeries first_half(const JobSeries& job);
/// As rounds `every` so many seconds would have seen it, whose rates are means of the last
/// `window`.
JobSeries in_rounds(const JobSeries& job, double every, double window);

}  // namespace assay::analysis::testing
