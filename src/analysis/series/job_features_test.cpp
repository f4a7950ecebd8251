// SPDX-License-Identifier: Apache-2.0
#include "series/job_features.h"

#include "testing/recorded_jobs.h"

#include <cmath>
#include <functional>
#include <limits>

#include <gtest/gtest.h>

namespace assay::analysis {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::vector<double> series(size_t samples, const std::function<double(size_t)>& shape) {
  std::vector<double> values;
  for (size_t i = 0; i < samples; ++i) values.push_back(shape(i));
  return values;
}

std::vector<double> always(double value, size_t samples = 100) {
  return std::vector<double>(samples, value);
}

/// Five seconds of work, fifteen of rest.
double bursts(size_t i) {
  return i % 20 < 5 ? 1.0 : 0.01;
}

double feature(const JobSeries& job, JobFeature f) {
  return features_of(facts_of(job))[static_cast<size_t>(f)];
}

TEST(JobFeatures, tell_pauses_from_waiting_and_from_work) {
  const auto resting = facts_of({.cpu_cores = series(200, bursts)});
  EXPECT_NEAR(resting.idle_share, 0.75, 0.03);
  EXPECT_NEAR(resting.waits_share, 0, 1e-9);
  EXPECT_EQ(resting.shortest_burst, 5);
  EXPECT_EQ(resting.longest_burst, 5);

  const auto waiting = facts_of({.cpu_cores = always(0.4)});
  EXPECT_EQ(waiting.idle_share, 0);
  EXPECT_NEAR(waiting.waits_share, 0.6, 1e-9);

  const auto working = facts_of({.cpu_cores = always(2.5)});
  EXPECT_EQ(working.idle_share, 0);
  EXPECT_EQ(working.waits_share, 0);
}

TEST(JobFeatures, count_work_on_the_gpu_as_work) {
  const auto facts =
      facts_of({.cpu_cores = series(200, bursts), .gpu_utilization_ratio = always(0.9, 200)});
  EXPECT_EQ(facts.idle_share, 0);
  EXPECT_LT(facts.waits_share, 0.1);
  EXPECT_EQ(facts.gpu_time_share, 1);
}

TEST(JobFeatures, leave_out_the_start_up) {
  const auto loading_first = [](size_t i) { return i < 15 ? 500e6 : 0; };
  EXPECT_EQ(facts_of({.disk_read_bytes_per_second = series(100, loading_first)}).read_rate, 0);
  // Ten minutes at most: of a day nothing but that.
  const auto long_ago = [](size_t i) { return i < 20 ? 500e6 : i < 30 ? 1e6 : 0; };
  const auto day =
      facts_of({.step_seconds = 30, .disk_read_bytes_per_second = series(2880, long_ago)});
  EXPECT_NEAR(day.read_rate, 10e6 / 2860, 1);
}

TEST(JobFeatures, tell_steady_writes_from_checkpoints) {
  JobSeries job;
  job.memory_bytes = always(1e9);
  job.disk_write_bytes_per_second = series(100, [](size_t i) { return i % 20 == 0 ? 1e9 : 0; });
  EXPECT_GT(facts_of(job).write_rate, 30e6);
  EXPECT_NEAR(feature(job, JobFeature::steady_writes), -6, 1e-9);
  job.disk_write_bytes_per_second = always(50e6);
  EXPECT_NEAR(feature(job, JobFeature::steady_writes), std::log10(0.05), 1e-9);
}

TEST(JobFeatures, tell_steady_reads_from_shards) {
  JobSeries job;
  job.memory_bytes = always(100e6);
  job.disk_read_bytes_per_second = series(100, [](size_t i) { return i % 3 == 0 ? 30e6 : 0; });
  EXPECT_GT(facts_of(job).read_rate, 9e6);
  EXPECT_NEAR(feature(job, JobFeature::steady_reads), -6, 1e-9);
  job.disk_read_bytes_per_second = always(10e6);
  EXPECT_NEAR(feature(job, JobFeature::steady_reads), -1, 1e-9);
}

TEST(JobFeatures, tell_small_results_from_changed_data_and_from_checkpoints) {
  JobSeries job;
  job.disk_read_bytes_per_second = always(20e6);
  job.disk_write_bytes_per_second = always(0.1e6);
  EXPECT_EQ(feature(job, JobFeature::small_results), 1);
  job.disk_write_bytes_per_second = always(5e6);
  EXPECT_EQ(feature(job, JobFeature::small_results), 0);
  job.disk_write_bytes_per_second = series(120, [](size_t i) { return i % 20 == 0 ? 0.5e6 : 0; });
  EXPECT_NEAR(feature(job, JobFeature::small_results), 0.05, 0.01);
}

TEST(JobFeatures, take_what_the_network_brings_as_something_to_give_results_for) {
  JobSeries job;
  job.disk_read_bytes_per_second = always(0);
  job.disk_write_bytes_per_second = always(0.1e6);
  EXPECT_EQ(feature(job, JobFeature::small_results), 0);
  job.network_receive_bytes_per_second = always(kNan);
  EXPECT_EQ(feature(job, JobFeature::small_results), 0);
  job.network_receive_bytes_per_second = always(8e6);
  EXPECT_EQ(feature(job, JobFeature::small_results), 1);
  job.disk_write_bytes_per_second = series(120, [](size_t i) { return i % 2 == 0 ? kNan : 0.1e6; });
  EXPECT_EQ(feature(job, JobFeature::small_results), 1);
  job.disk_read_bytes_per_second.clear();
  EXPECT_TRUE(std::isnan(feature(job, JobFeature::small_results)));
}

TEST(JobFeatures, tell_answering_from_fetching) {
  JobSeries job;
  job.cpu_cores = always(0.5);
  job.network_receive_bytes_per_second = always(2e6);
  job.network_transmit_bytes_per_second = always(4e3);
  EXPECT_EQ(facts_of(job).answering_share, 1);
  EXPECT_EQ(facts_of(job).fetching_share, 0);
  job.network_transmit_bytes_per_second = always(200);
  EXPECT_EQ(facts_of(job).answering_share, 0);
  EXPECT_EQ(facts_of(job).fetching_share, 1);
}

TEST(JobFeatures, take_constant_and_zero_series) {
  JobSeries job;
  for (auto* values : {&job.cpu_cores, &job.memory_bytes, &job.disk_read_bytes_per_second,
                       &job.disk_write_bytes_per_second, &job.network_receive_bytes_per_second,
                       &job.network_transmit_bytes_per_second, &job.gpu_utilization_ratio})
    *values = always(0);
  const auto facts = facts_of(job);
  EXPECT_EQ(facts.idle_share, 1);
  EXPECT_EQ(facts.gpu_share, 0);
  EXPECT_TRUE(std::isnan(facts.longest_burst));
  EXPECT_TRUE(std::isnan(feature(job, JobFeature::cpu_swing)));
  EXPECT_TRUE(std::isnan(feature(job, JobFeature::steady_reads)));
  job.cpu_cores = always(1);
  EXPECT_NEAR(feature(job, JobFeature::cpu_swing), -2, 1e-9);
  EXPECT_EQ(facts_of(job).answering_share, 0);
}

TEST(JobFeatures, do_not_know_what_was_not_measured) {
  for (const double f : features_of(facts_of({}))) EXPECT_TRUE(std::isnan(f));
  for (const double f :
       features_of(facts_of({.cpu_cores = always(kNan), .memory_bytes = always(kNan)})))
    EXPECT_TRUE(std::isnan(f));
  const JobSeries only_cpu{.cpu_cores = series(200, bursts)};
  EXPECT_NEAR(feature(only_cpu, JobFeature::idle_share), 0.75, 0.03);
  for (const auto f : {JobFeature::gpu_share, JobFeature::steady_writes, JobFeature::steady_reads,
                       JobFeature::small_results, JobFeature::answering, JobFeature::fetching})
    EXPECT_TRUE(std::isnan(feature(only_cpu, f)));
}

TEST(JobFeatures, skip_samples_that_are_missing) {
  const auto with_holes = [](size_t i) { return i % 3 == 0 ? kNan : bursts(i); };
  const auto facts = facts_of({.cpu_cores = series(600, with_holes),
                               .network_transmit_bytes_per_second = series(550, with_holes)});
  EXPECT_NEAR(facts.idle_share, 0.75, 0.03);
  EXPECT_GT(facts.answering_share, 0.9);
}

TEST(JobFeatures, are_much_the_same_for_slower_and_faster_samplers) {
  const JobSeries slow{.cpu_cores = series(1200, [](size_t i) { return bursts(i / 10); })};
  const auto once = facts_of(slow);
  const auto fifth = facts_of(testing::slower(slow, 5));
  EXPECT_NEAR(once.idle_share, fifth.idle_share, 0.02);
  EXPECT_NEAR(once.longest_burst, fifth.longest_burst, 5);

  JobSeries fast{.step_seconds = 0.1,
                 .cpu_cores = series(2000, [](size_t i) { return bursts(i / 10); })};
  EXPECT_EQ(facts_of(fast).samples, 200);
  EXPECT_EQ(facts_of(fast).longest_burst, 5);
  for (const double step : {1e-300, 0.0, -1.0, kNan}) {
    fast.step_seconds = step;
    EXPECT_LE(facts_of(fast).samples, 2000);
  }
}

}  // namespace
}  // namespace assay::analysis
