// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <assay/base/result.h>
#include <assay/base/time.h>
#include <assay/store/shelf.h>

namespace assay::cluster {

/// What the history has of a job.
struct JobSummary {
  std::string name_space;
  std::string name;
  std::string resource;  ///< "MPIJob"
  std::string kind;      ///< "training"; empty: it could not be told
  Timestamp first = {};
  Timestamp last = {};
  bool gone = false;
  size_t workers = 0;  ///< all that it ever had
  double most_gpus = 0;
  double gpu_mean = 0;  ///< percent of the GPUs that it had
  double gpu_p95 = 0;
  double cores_mean = 0;  ///< of all its workers together
  double cores_p95 = 0;
  double cores_max = 0;
  double memory_max = 0;  ///< bytes
};

/// The newest first; those that cannot be read are left out.
Result<std::vector<JobSummary>> list_jobs(store::Shelf& shelf);

}  // namespace assay::cluster
