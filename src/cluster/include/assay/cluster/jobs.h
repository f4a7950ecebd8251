// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <assay/base/result.h>
#include <assay/base/time.h>
#include <assay/store/shelf.h>

namespace assay::cluster {

/// Of what was used over a job's life.
struct UseSummary {
  double mean = 0;
  double p95 = 0;
  double max = 0;
};

/// What the history has of a job. What nobody measured is not there.
struct JobSummary {
  std::string name_space;
  std::string name;
  std::string resource;  ///< "MPIJob"
  std::string kind;      ///< "training"; empty: it could not be told
  std::string trial;     ///< whose short copy it is; empty: nobody's
  Timestamp first = {};
  Timestamp last = {};
  bool gone = false;   ///< deleted, or over; not between a worker that failed and the next
  size_t workers = 0;  ///< all that were ever seen at work
  std::optional<double> most_gpus;
  std::optional<UseSummary> gpu_percent;  ///< of the GPUs that it had
  std::optional<UseSummary> cores;        ///< of all its workers together
  std::optional<UseSummary> memory;       ///< likewise, in bytes
};

/// The newest first; those that cannot be read are left out.
Result<std::vector<JobSummary>> list_jobs(store::Shelf& shelf);

}  // namespace assay::cluster
