// SPDX-License-Identifier: Apache-2.0
#include "history.h"
#include "history_documents.h"

#include <algorithm>

#include <assay/cluster/jobs.h>

namespace assay::cluster {

namespace {

std::optional<UseSummary> summary_of(const Usage& usage) {
  if (usage.count() == 0) return std::nullopt;
  return UseSummary{.mean = usage.mean(), .p95 = usage.p95(), .max = usage.max()};
}

}  // namespace

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
                    .trial = job->trial,
                    .first = job->first,
                    .last = std::max(job->first, job->last),
                    .gone = job->gone,
                    .workers = job->workers.size(),
                    .most_gpus = job->gpus.count() ? std::optional(job->gpus.max()) : std::nullopt,
                    .gpu_percent = summary_of(job->gpu_utilization),
                    .cores = summary_of(job->uses.cores),
                    .memory = summary_of(job->uses.memory)});
  }
  std::stable_sort(jobs.begin(), jobs.end(),
                   [](const JobSummary& a, const JobSummary& b) { return a.last > b.last; });
  return jobs;
}

}  // namespace assay::cluster
