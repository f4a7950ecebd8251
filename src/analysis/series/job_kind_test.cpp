// SPDX-License-Identifier: Apache-2.0
#include "series/job_evidence.h"
#include "testing/recorded_jobs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <assay/analysis/job_kind.h>
#include <gtest/gtest.h>

namespace assay::analysis {
namespace {

using testing::RecordedJob;

std::vector<RecordedJob> recordings() {
  return testing::recorded_jobs(ASSAY_SOURCE_DIR "/tests/recordings/jobs").value();
}

std::vector<double> always(double value) {
  return std::vector<double>(120, value);
}

/// All that can be known, and nothing used but a full core and 1 GB.
JobSeries busy() {
  JobSeries job;
  job.cpu_cores = always(1);
  job.memory_bytes = always(1e9);
  job.disk_read_bytes_per_second = always(0);
  job.disk_write_bytes_per_second = always(0);
  job.network_receive_bytes_per_second = always(0);
  job.network_transmit_bytes_per_second = always(0);
  job.gpu_utilization_ratio = always(0);
  job.gpu_memory_bytes = always(0);
  return job;
}

bool is_right(const RecordedJob& job, const JobKindFinding& finding) {
  return finding.kind && name_of(*finding.kind).ends_with(job.kind);
}

TEST(JobKind, is_told_right_of_the_recordings_it_was_learned_from) {
  const auto jobs = recordings();
  ASSERT_GE(jobs.size(), 40);
  size_t right = 0;
  size_t right_when_slower = 0;
  for (const auto& job : jobs) {
    right += is_right(job, kind_of_job(job.series));
    right_when_slower += is_right(job, kind_of_job(testing::slower(job.series, 5)));
  }
  EXPECT_GE(right * 10, jobs.size() * 9) << right << " of " << jobs.size();
  EXPECT_GE(right_when_slower * 10, jobs.size() * 9) << right_when_slower << " of " << jobs.size();
}

TEST(JobKind, is_told_right_of_long_recordings_as_rounds_of_a_profiler_see_them) {
  const auto jobs = testing::recorded_jobs(ASSAY_SOURCE_DIR "/tests/recordings/jobs/long").value();
  ASSERT_GE(jobs.size(), 30);
  size_t right = 0, as_fast_ones = 0;
  for (const auto& job : jobs) {
    auto seen = testing::in_rounds(job.series, 30, 90);  // twenty values, the fewest
    right += is_right(job, kind_of_job(seen));
    seen.step_seconds = seen.window_seconds = 1;
    as_fast_ones += is_right(job, kind_of_job(seen));
  }
  EXPECT_GE(right * 10, jobs.size() * 8) << right << " of " << jobs.size();
  EXPECT_GT(right, as_fast_ones) << "pauses are not seen in means of minutes";
}

TEST(JobKind, has_probabilities_and_evidence) {
  for (const auto& job : recordings()) {
    const auto finding = kind_of_job(job.series);
    const auto& p = finding.probability;
    EXPECT_NEAR(std::accumulate(p.begin(), p.end(), 0.0), 1, 1e-9);
    EXPECT_EQ(finding.confidence, *std::max_element(p.begin(), p.end()));
    EXPECT_FALSE(finding.evidence.empty()) << job.file;
    EXPECT_TRUE(
        std::is_sorted(finding.evidence.begin(), finding.evidence.end(),
                       [](const auto& a, const auto& b) { return a.strength > b.strength; }));
  }
}

TEST(JobKind, of_a_busy_gpu_is_training) {
  JobSeries job = busy();
  job.gpu_utilization_ratio = always(0.71);
  job.gpu_memory_bytes = always(9.9e9);
  const auto finding = kind_of_job(job);
  EXPECT_EQ(finding.kind, JobKind::training);
  EXPECT_EQ(finding.evidence.at(0).sentence,
            "uses the GPU at 71 % nearly all the time and holds 9.9 GB of its memory");
}

TEST(JobKind, of_a_server_is_inference) {
  JobSeries job = busy();
  for (size_t i = 0; i < job.cpu_cores.size(); ++i) {
    job.cpu_cores[i] = 0.4 + 0.1 * std::sin(static_cast<double>(i));
    job.network_transmit_bytes_per_second[i] = 3e6 * job.cpu_cores[i];
    job.network_receive_bytes_per_second[i] = 1e6 * job.cpu_cores[i];
  }
  const auto finding = kind_of_job(job);
  EXPECT_EQ(finding.kind, JobKind::inference);
  EXPECT_EQ(finding.evidence.at(0).sentence,
            "answers over the network: sends 1.2 MB/s during 100 % of its computing");
}

TEST(JobKind, of_small_results_for_much_that_is_read_is_inference) {
  JobSeries job = busy();
  job.disk_read_bytes_per_second = always(25e6);
  job.disk_write_bytes_per_second = always(110e3);
  const auto finding = kind_of_job(job);
  EXPECT_EQ(finding.kind, JobKind::inference);
  EXPECT_EQ(finding.evidence.at(0).sentence,
            "writes a small result for what comes in: 110 kB/s for 25 MB/s, 100 % of the time");
}

TEST(JobKind, of_bursts_between_pauses_is_interactive) {
  JobSeries job = busy();
  for (size_t i = 0; i < job.cpu_cores.size(); ++i) job.cpu_cores[i] = i % 12 < 3 ? 0.9 : 0;
  const auto finding = kind_of_job(job);
  EXPECT_EQ(finding.kind, JobKind::interactive);
  EXPECT_EQ(finding.evidence.at(0).sentence,
            "long pauses between bursts of work: idle 76 % of the time, bursts of 3 to 3 s");
}

TEST(JobKind, of_much_read_and_written_is_data_preparation) {
  JobSeries job = busy();
  job.memory_bytes = always(200e6);
  job.disk_read_bytes_per_second = always(50e6);
  job.disk_write_bytes_per_second = always(40e6);
  const auto finding = kind_of_job(job);
  EXPECT_EQ(finding.kind, JobKind::preparation);
  EXPECT_EQ(finding.evidence.at(0).sentence,
            "writes 40 MB/s to disk all the time, as much as its memory every 5 s");
}

TEST(JobKind, evidence_tells_steady_disk_use_from_now_and_then) {
  JobSeries job = busy();
  const auto reads = [&] { return sentence_about(JobFeature::steady_reads, facts_of(job)); };
  const auto writes = [&] { return sentence_about(JobFeature::steady_writes, facts_of(job)); };
  EXPECT_EQ(reads(), "reads next to nothing from disk");
  EXPECT_EQ(writes(), "writes next to nothing to disk");
  for (size_t i = 0; i < job.cpu_cores.size(); i += 3)
    job.disk_read_bytes_per_second[i] = job.disk_write_bytes_per_second[i] = 30e6;
  EXPECT_EQ(reads(), "reads from disk only now and then: 10 MB/s on average");
  EXPECT_EQ(writes(), "writes to disk only now and then: 10 MB/s on average");
  job.disk_read_bytes_per_second = job.disk_write_bytes_per_second = always(40e6);
  EXPECT_EQ(reads(), "reads 40 MB/s from disk all the time");
  EXPECT_EQ(writes(), "writes 40 MB/s to disk all the time, as much as its memory every 25 s");
}

TEST(JobKind, is_not_told_of_a_short_job_or_of_nothing) {
  JobSeries job = busy();
  job.gpu_utilization_ratio = always(0.9);
  for (auto* values : {&job.cpu_cores, &job.gpu_utilization_ratio}) values->resize(19);
  JobSeries shorter;
  shorter.cpu_cores = job.cpu_cores;
  shorter.gpu_utilization_ratio = job.gpu_utilization_ratio;
  EXPECT_FALSE(kind_of_job(shorter).kind);
  EXPECT_EQ(kind_of_job(shorter).confidence, 0);
  EXPECT_FALSE(kind_of_job({}).kind);
  EXPECT_FALSE(kind_of_job({.cpu_cores = always(std::numeric_limits<double>::quiet_NaN())}).kind);
}

TEST(JobKind, says_nothing_about_what_is_not_known) {
  const auto finding = kind_of_job({.cpu_cores = always(1), .gpu_utilization_ratio = always(0.8)});
  EXPECT_EQ(finding.kind, JobKind::training);
  for (const auto& evidence : finding.evidence) {
    EXPECT_EQ(evidence.sentence.find("network"), std::string::npos);
    EXPECT_EQ(evidence.sentence.find("disk"), std::string::npos);
  }
}

TEST(JobKind, is_not_told_when_several_are_alike) {
  JobSeries job = busy();
  job.disk_write_bytes_per_second = always(1e6);
  for (size_t i = 0; i < job.cpu_cores.size(); ++i) job.cpu_cores[i] = i % 10 < 9 ? 0.6 : 0.02;
  const auto finding = kind_of_job(job);
  EXPECT_FALSE(finding.kind);
  EXPECT_LT(finding.confidence, kLeastConfidence);
  EXPECT_FALSE(finding.evidence.empty());
}

}  // namespace
}  // namespace assay::analysis
