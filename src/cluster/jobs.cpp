// SPDX-License-Identifier: Apache-2.0
#include "history.h"
#include "history_documents.h"

#include <algorithm>

#include <assay/cluster/jobs.h>

namespace assay::cluster {

Result<std::vector<JobSummary>> list_jobs(store::Shelf& shelf) {
  ASSAY_TRY(const auto documents, shelf.list(kJobKind));
  std::vector<JobSummary> jobs;
  for (const auto& document : documents) {
    const auto job = parse_job(document.json);
    if (!job) continue;
    jobs.push_back({.name_space = job->object.name_space,
                    .name = job->object.name,
                    .resource = job->object.resource.kind,
                    .kind = job->findings.kind,
                    .first = job->first,
                    .last = job->last,
                    .gone = job->gone,
                    .workers = job->workers.size(),
                    .most_gpus = job->gpus.max(),
                    .gpu_mean = job->gpu_utilization.mean(),
                    .gpu_p95 = job->gpu_utilization.p95(),
                    .cores_mean = job->uses.cores.mean(),
                    .cores_p95 = job->uses.cores.p95(),
                    .cores_max = job->uses.cores.max(),
                    .memory_max = job->uses.memory.max()});
  }
  std::stable_sort(jobs.begin(), jobs.end(),
                   [](const JobSummary& a, const JobSummary& b) { return a.last > b.last; });
  return jobs;
}

}  // namespace assay::cluster
