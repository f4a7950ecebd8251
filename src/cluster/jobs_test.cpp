// SPDX-License-Identifier: Apache-2.0
#include "history_documents.h"
#include "testing/history_fixture.h"

#include <assay/cluster/jobs.h>
#include <gtest/gtest.h>

namespace assay::cluster {
namespace {

using testing::SmallCluster;

class JobsTest : public testing::HistoryTest {
 protected:
  /// What is listed of the only job.
  JobSummary listed(const JobState& job) {
    EXPECT_TRUE(shelf_->put(kJobKind, job.object.uid, job_document(job)));
    const auto jobs = list_jobs(*shelf_);
    EXPECT_TRUE(jobs);
    EXPECT_EQ(jobs->size(), 1u);
    return jobs->at(0);
  }
};

TEST_F(JobsTest, are_listed_the_newest_first) {
  SmallCluster cluster;
  cluster.round();
  auto job = cluster.tracker.jobs().at("job-1");
  ASSERT_TRUE(shelf_->put(kJobKind, "job-1", job_document(job)));
  job.object.name = "newer";
  job.last += std::chrono::hours(1);
  ASSERT_TRUE(shelf_->put(kJobKind, "job-2", job_document(job)));
  ASSERT_TRUE(shelf_->put(kJobKind, "broken", "{}"));
  const auto jobs = list_jobs(*shelf_);
  ASSERT_TRUE(jobs);
  ASSERT_EQ(jobs->size(), 2u);
  EXPECT_EQ((*jobs)[0].name, "newer");
  EXPECT_EQ((*jobs)[1].workers, 2u);
  EXPECT_EQ((*jobs)[1].most_gpus, 2);
  ASSERT_TRUE((*jobs)[1].gpu_percent);
  EXPECT_EQ((*jobs)[1].gpu_percent->mean, 70);
  EXPECT_EQ((*jobs)[1].resource, "MPIJob");
}

TEST_F(JobsTest, what_nobody_measured_is_not_there) {
  SmallCluster cluster;
  cluster.reading = {};
  cluster.round();
  const auto job = listed(cluster.tracker.jobs().at("job-1"));
  EXPECT_EQ(job.workers, 2u);
  EXPECT_FALSE(job.most_gpus);
  EXPECT_FALSE(job.gpu_percent);
  EXPECT_FALSE(job.cores);
  EXPECT_FALSE(job.memory);
}

TEST_F(JobsTest, without_gpus_has_none_where_those_of_its_nodes_are_told_of) {
  const auto most_gpus = [this](const auto& change) {
    SmallCluster cluster;
    cluster.reading.gpus[1].pod.reset();
    cluster.reading.gpus[0].pod = PodKey{"lab", "other"};
    cluster.seen.nodes.push_back({.object = {kubeapi::nodes(), "", "plain", "node-2"}});
    cluster.seen.pods[1].node = "plain";
    change(cluster);
    cluster.round();
    return listed(cluster.tracker.jobs().at("job-1")).most_gpus;
  };
  EXPECT_EQ(most_gpus([](SmallCluster&) {}), 0);
  EXPECT_EQ(most_gpus([](SmallCluster& c) { c.seen.pods[0].node.clear(); }), 0) << "it waits";
  EXPECT_EQ(most_gpus([](SmallCluster& c) { c.reading.gpus.clear(); }), std::nullopt);
  EXPECT_EQ(most_gpus([](SmallCluster& c) { c.reading.gpus[0].pod.reset(); }), std::nullopt)
      << "nobody says whose they are";
  EXPECT_EQ(most_gpus([](SmallCluster& c) { c.seen.nodes[1].gpu_count = 4; }), std::nullopt)
      << "of those of that node nobody tells";
}

TEST_F(JobsTest, gpus_whose_use_nobody_tells_are_not_idle) {
  SmallCluster cluster;
  for (auto& gpu : cluster.reading.gpus) gpu.utilization.reset();
  cluster.round();
  const auto job = listed(cluster.tracker.jobs().at("job-1"));
  EXPECT_EQ(job.most_gpus, 2);
  EXPECT_FALSE(job.gpu_percent);
}

TEST_F(JobsTest, one_that_was_over_when_it_was_first_seen_has_that_time) {
  SmallCluster cluster;
  for (auto& pod : cluster.seen.pods) pod.over = true;
  cluster.round();
  const auto job = listed(cluster.tracker.jobs().at("job-1"));
  EXPECT_EQ(job.last, cluster.now);
  EXPECT_TRUE(job.gone);
}

TEST_F(JobsTest, one_pod_of_a_trial_tells_it_in_whatever_order_they_come) {
  SmallCluster cluster;
  cluster.seen.pods[0].trial = "resnet";
  cluster.round();
  EXPECT_EQ(cluster.tracker.jobs().at("job-1").trial, "resnet");
}

TEST_F(JobsTest, copies_of_a_trial_are_told_as_such_also_after_a_restart) {
  SmallCluster cluster;
  for (auto& pod : cluster.seen.pods) pod.trial = "resnet";
  cluster.round();
  const auto& job = cluster.tracker.jobs().at("job-1");
  EXPECT_EQ(listed(job).trial, "resnet");
  Tracker after{std::chrono::seconds(30)};
  after.update({.pods = {cluster.seen.pods[0]}}, {}, cluster.now);
  after.jobs().at("job-1").trial.clear();
  after.restore(*parse_job(job_document(job)));
  EXPECT_EQ(listed(after.jobs().at("job-1")).trial, "resnet");
}

}  // namespace
}  // namespace assay::cluster
