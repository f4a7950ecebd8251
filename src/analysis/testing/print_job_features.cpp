// SPDX-License-Identifier: Apache-2.0
// Prints the features of every recorded job of a folder as CSV: as recorded ("1s"), as a sampler
// with steps of five seconds would have seen it ("5s"), and of its first half ("half"). Of long
// ones in its folder `long`: as rounds every 30 s with rates of the last 30, 60 and 120 s ("30s",
// ...).
#include "series/job_features.h"
#include "testing/recorded_jobs.h"

#include <cstdio>
#include <string>

using namespace assay::analysis;

namespace {

void print(const testing::RecordedJob& job, const char* view, const JobSeries& series) {
  std::printf("%s,%s,%s,%s", job.file.c_str(), job.kind.c_str(), job.program.c_str(), view);
  for (const double value : features_of(facts_of(series))) std::printf(",%.9g", value);
  std::printf("\n");
}

}  // namespace

int main(int argc, char** argv) {
  const std::string folder = argc > 1 ? argv[1] : ".";
  const auto jobs = testing::recorded_jobs(folder),
             longer = testing::recorded_jobs(folder + "/long");
  for (const auto* read : {&jobs, &longer}) {
    if (*read) continue;
    std::fprintf(stderr, "%s\n", read->error().message.c_str());
    return 1;
  }
  std::printf("file,kind,program,view");
  for (const auto name : kJobFeatureNames) std::printf(",%s", std::string(name).c_str());
  std::printf("\n");
  for (const auto& job : *jobs) {
    print(job, "1s", job.series);
    print(job, "5s", testing::slower(job.series, 5));
    print(job, "half", testing::first_half(job.series));
  }
  for (const auto& job : *longer) {
    print(job, "30s", testing::in_rounds(job.series, 30, 30));
    print(job, "60s", testing::in_rounds(job.series, 30, 60));
    print(job, "120s", testing::in_rounds(job.series, 30, 120));
  }
  return 0;
}
