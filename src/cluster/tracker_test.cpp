// SPDX-License-Identifier: Apache-2.0
#include "tracker.h"

#include "testing/small_cluster.h"

#include <cmath>
#include <utility>

#include <gtest/gtest.h>

namespace assay::cluster {
namespace {

using testing::SmallCluster;

TEST(Tracker, adds_up_what_the_workers_of_a_job_use) {
  SmallCluster cluster;
  for (int round = 0; round < 4; ++round) cluster.round();
  auto& job = cluster.tracker.jobs().at("job-1");
  EXPECT_DOUBLE_EQ(job.uses.cores.max(), 3);
  EXPECT_DOUBLE_EQ(job.gpus.max(), 2);
  EXPECT_DOUBLE_EQ(job.gpu_utilization.mean(), 70);
  ASSERT_EQ(job.workers.size(), 2u);
  EXPECT_EQ(job.workers.at("train-1").cores, 2);
  EXPECT_DOUBLE_EQ(job.workers.at("train-0").gpus.at("n1-gpu-0").first, 60);
  const auto& gpu = cluster.tracker.nodes().at("n1").gpus.at("0");
  EXPECT_EQ(gpu.utilization.count(), 4u);
  EXPECT_NEAR(gpu.memory_share.max(), 25, 0.01);
}

TEST(Tracker, rates_of_a_young_pod_are_means_of_its_life) {
  SmallCluster cluster;
  cluster.reading.window = std::chrono::seconds(120);
  cluster.reading.pods[{"lab", "train-0"}].cores = 0.2129;
  const auto begin = cluster.now;
  cluster.seen.pods[0].started = begin - std::chrono::seconds(22);
  cluster.seen.pods[1].started = begin - std::chrono::seconds(90);
  cluster.round();
  const auto& young = cluster.tracker.pods().at("pod-0").now;
  const auto& old = cluster.tracker.pods().at("pod-1").now;
  EXPECT_NEAR(young.cores.value_or(0), 0.2129 * 120 / 52, 1e-9);
  EXPECT_NEAR(young.received.value_or(0), 1e6 * 120 / 52, 1e-3);
  EXPECT_EQ(young.memory_bytes, 1e9) << "no rate";
  EXPECT_EQ(old.cores, 2) << "the window is full";
  cluster.round();
  EXPECT_NEAR(young.cores.value_or(0), 0.2129 * 120 / 82, 1e-9);
}

TEST(Tracker, a_pod_of_a_node_whose_clock_is_ahead_is_as_old_as_it_was_seen_at_work) {
  SmallCluster cluster;
  cluster.reading.window = std::chrono::seconds(120);
  cluster.seen.pods[0].started = cluster.now + std::chrono::seconds(70);
  for (int i = 0; i < 3; ++i) cluster.round();
  EXPECT_EQ(cluster.tracker.pods().at("pod-0").now.cores, 2) << "for a minute";
}

TEST(Tracker, a_pod_that_waited_is_as_old_as_what_it_does) {
  SmallCluster cluster;
  cluster.reading.window = std::chrono::seconds(120);
  for (int i = 0; i < 20; ++i) cluster.round();
  cluster.seen.pods[0].started = cluster.now;
  cluster.round();
  EXPECT_EQ(cluster.tracker.pods().at("pod-0").now.cores, 4);
  cluster.round();
  EXPECT_EQ(cluster.tracker.pods().at("pod-0").now.cores, 2);
}

TEST(Tracker, a_pod_that_has_just_begun_is_not_told_to_use_a_lot) {
  SmallCluster cluster;
  cluster.reading.window = std::chrono::seconds(120);
  cluster.seen.pods[0].started = cluster.now + std::chrono::seconds(29);
  cluster.seen.pods[1].started = cluster.now + std::chrono::seconds(31);
  cluster.round();
  EXPECT_EQ(cluster.tracker.pods().at("pod-0").now.cores, 8);
  EXPECT_EQ(cluster.tracker.pods().at("pod-1").now.cores, 2) << "not begun yet, by our clock";
}

TEST(Tracker, rates_of_a_pod_with_the_name_of_another_are_of_both) {
  for (const bool at_once : {true, false}) {
    SmallCluster cluster;
    cluster.reading.window = std::chrono::seconds(120);
    cluster.round();
    auto pod = cluster.seen.pods[0];
    if (!at_once) {
      cluster.seen.pods.erase(cluster.seen.pods.begin());
      cluster.round();
      cluster.seen.pods.insert(cluster.seen.pods.begin(), pod);
    }
    cluster.seen.pods[0].object.uid = "again";
    cluster.seen.pods[0].started = cluster.now;
    cluster.round();
    EXPECT_EQ(cluster.tracker.pods().at("again").now.cores, 1) << at_once;
  }
}

TEST(Tracker, a_job_has_no_use_of_gpus_while_nobody_tells_of_them) {
  SmallCluster cluster;
  cluster.round();
  const auto& job = cluster.tracker.jobs().at("job-1");
  const auto before = job.gpu_utilization.count();
  cluster.reading.gpus.clear();
  cluster.round();
  EXPECT_EQ(job.gpu_utilization.count(), before);
  EXPECT_EQ(job.gpu_memory_share.count(), before);
}

TEST(Tracker, keeps_a_job_while_its_workers_come_and_go) {
  SmallCluster cluster;
  cluster.round();
  cluster.seen.pods.pop_back();
  cluster.round();
  auto& job = cluster.tracker.jobs().at("job-1");
  EXPECT_EQ(job.workers.size(), 2u) << "a worker that is gone is remembered";
  EXPECT_FALSE(job.gone);
  EXPECT_EQ(cluster.tracker.pods().size(), 1u);
  cluster.seen.pods.clear();
  cluster.round();
  EXPECT_TRUE(job.gone);
  EXPECT_TRUE(job.unsaved);
  EXPECT_EQ(job.workers.size(), 2u);
  EXPECT_TRUE(cluster.tracker.take_gone().empty()) << "they are told with their job";
}

TEST(Tracker, tells_of_pods_without_a_job_when_they_are_gone) {
  SmallCluster cluster;
  for (auto& pod : cluster.seen.pods) pod.job.reset();
  cluster.round();
  cluster.seen.pods.clear();
  cluster.round();
  EXPECT_EQ(cluster.tracker.take_gone().size(), 2u);
  EXPECT_TRUE(cluster.tracker.take_gone().empty());
}

TEST(Tracker, a_node_of_the_same_name_begins_anew) {
  SmallCluster cluster;
  cluster.round();
  cluster.seen.nodes[0].object.uid = "another";
  cluster.round();
  EXPECT_EQ(cluster.tracker.nodes().at("n1").gpus.at("0").utilization.count(), 1u);
  cluster.seen.nodes.clear();
  cluster.round();
  EXPECT_TRUE(cluster.tracker.nodes().empty());
}

TEST(Tracker, what_is_not_measured_is_not_zero) {
  SmallCluster cluster;
  cluster.reading.pods.clear();
  cluster.round();
  EXPECT_EQ(cluster.tracker.pods().at("pod-0").uses.cores.count(), 0u);
  EXPECT_TRUE(std::isnan(cluster.tracker.pods().at("pod-0").series.cores.values().at(0)));
}

TEST(Tracker, the_network_of_a_node_is_not_its_pods) {
  SmallCluster cluster;
  cluster.seen.pods[0].host_network = true;
  cluster.round();
  const auto& pods = cluster.tracker.pods();
  EXPECT_EQ(pods.at("pod-0").uses.network.count(), 0u);
  EXPECT_TRUE(std::isnan(pods.at("pod-0").series.received.values().at(0)));
  EXPECT_EQ(pods.at("pod-1").uses.network.count(), 1u);
  EXPECT_EQ(pods.at("pod-0").uses.cores.count(), 1u);
  const auto& job = cluster.tracker.jobs().at("job-1");
  EXPECT_FALSE(job.workers.at("train-0").network);
  EXPECT_EQ(job.workers.at("train-1").network, 1e6);
  EXPECT_EQ(job.uses.network.max(), 1e6);
}

TEST(Tracker, finds_patterns_and_what_is_ahead) {
  SmallCluster cluster;
  for (int round = 0; round < 100; ++round) {
    cluster.reading.gpus[0].utilization = round % 10 < 5 ? 90 : 10;
    cluster.reading.progress[{"lab", "train-0"}] = {round * 10.0, 5000};
    cluster.reading.pods[{"lab", "train-0"}].memory_bytes = 1e9 + 30e6 * round;
    cluster.reading.pods[{"lab", "train-0"}].memory_limit = 10e9;
    cluster.round();
  }
  cluster.tracker.look(1);
  const auto& found = cluster.tracker.pods().at("pod-0").findings;
  ASSERT_TRUE(found.pattern);
  EXPECT_NEAR(found.pattern->period_seconds.value_or(0), 300, 6);
  EXPECT_EQ(found.pattern->use, analysis::UseClass::bursty);
  ASSERT_TRUE(found.pattern->hour);
  EXPECT_NEAR(found.pattern->hour->mean, 50, 5);
  ASSERT_TRUE(found.finish);
  EXPECT_NEAR(found.finish->seconds, (5000 - 990) * 3, 60);
  ASSERT_TRUE(found.memory_full);
  EXPECT_NEAR(found.memory_full->seconds, (9e9 - 99 * 30e6) / 1e6, 150);
  EXPECT_FALSE(found.kind.empty());
  EXPECT_FALSE(found.evidence.empty());
  const auto& job = cluster.tracker.jobs().at("job-1").findings;
  EXPECT_EQ(job.kind.empty(), found.kind.empty());
  EXPECT_TRUE(job.finish);
  EXPECT_TRUE(job.memory_full);
  EXPECT_TRUE(job.pattern);
}

TEST(Tracker, tells_how_the_cores_of_a_node_are_used_and_will_be) {
  SmallCluster cluster;
  cluster.seen.nodes[0].cores_count = 16;
  for (int round = 0; round < 100; ++round) {
    cluster.reading.nodes["n1"].cores = round % 10 < 5 ? 15 : 1;
    cluster.round();
  }
  cluster.tracker.look(1);
  const auto& found = cluster.tracker.nodes().at("n1").pattern;
  ASSERT_TRUE(found);
  EXPECT_EQ(found->use, analysis::UseClass::bursty);
  ASSERT_TRUE(found->hour);
  EXPECT_NEAR(found->hour->mean, 8, 1);
  EXPECT_LE(found->hour->high95, 16) << "it has no more";
}

TEST(Tracker, every_pod_is_looked_at_within_its_turns) {
  SmallCluster cluster;
  for (int round = 0; round < 30; ++round) cluster.round();
  for (int turn = 0; turn < 7; ++turn) cluster.tracker.look(7);
  for (const auto& [uid, pod] : cluster.tracker.pods()) EXPECT_TRUE(pod.findings.pattern) << uid;
}

TEST(Tracker, goes_on_where_the_history_has_a_job) {
  SmallCluster cluster;
  for (const bool before : {true, false}) {
    Tracker tracker(std::chrono::seconds(30));
    JobState old;
    old.object = cluster.job;
    old.uses.cores.add(16);
    old.workers["train-0"].cores = 16;
    old.workers["train-9"].cores = 1;
    if (before) tracker.restore(old);
    tracker.update(cluster.seen, cluster.reading, cluster.now);
    if (!before) tracker.restore(old);
    const auto& job = tracker.jobs().at("job-1");
    EXPECT_EQ(job.uses.cores.max(), 16) << before;
    EXPECT_EQ(job.uses.cores.count(), 2u) << before;
    EXPECT_EQ(job.workers.at("train-0").cores, 16) << before;
    EXPECT_EQ(job.workers.size(), 3u) << before;
  }
}

TEST(Tracker, a_pod_stays_with_its_job_when_that_is_gone_before_it) {
  SmallCluster cluster;
  cluster.round();
  for (auto& pod : cluster.seen.pods) pod.job.reset();
  cluster.round();
  EXPECT_EQ(cluster.tracker.jobs().at("job-1").uses.cores.count(), 2u);
  cluster.seen.pods.clear();
  cluster.round();
  EXPECT_TRUE(cluster.tracker.take_gone().empty()) << "it is told with its job";
}

TEST(Tracker, a_job_of_which_all_pods_are_over_is_over) {
  SmallCluster cluster;
  cluster.round();
  const auto last = cluster.now;
  for (auto& pod : cluster.seen.pods) pod.over = true;
  cluster.round();
  cluster.round();
  const auto& job = cluster.tracker.jobs().at("job-1");
  EXPECT_TRUE(job.gone);
  EXPECT_EQ(job.last, last);
  cluster.seen.pods[0].over = false;
  cluster.round();
  EXPECT_FALSE(job.gone);
}

TEST(Tracker, a_job_is_not_over_while_a_worker_that_failed_may_be_replaced) {
  SmallCluster cluster;
  cluster.round();
  auto& pods = cluster.seen.pods;
  for (auto& pod : pods) pod.over = true;
  pods[0].failed = true;
  cluster.round();
  const auto& job = cluster.tracker.jobs().at("job-1");
  EXPECT_FALSE(job.gone);
  for (int i = 0; i < 20; ++i) cluster.round();
  EXPECT_FALSE(job.gone) << "Kubernetes waits for ten minutes at most";
  pods.push_back(pods[0]);  // lived from one round to the next
  pods[2].object.name = "train-2";
  pods[2].object.uid = "pod-2";
  pods[2].started = cluster.now;
  for (int i = 0; i < 5; ++i) cluster.round();
  EXPECT_FALSE(job.gone) << "tried again";
  for (int i = 0; i < 20; ++i) cluster.round();
  EXPECT_TRUE(job.gone) << "given up";
}

TEST(Tracker, a_job_that_failed_is_over_when_it_is_deleted_done_or_long_ago) {
  const auto gone = [](auto change) {
    SmallCluster cluster;
    cluster.round();
    auto& pods = cluster.seen.pods;
    pods[0].over = pods[0].failed = true;
    cluster.round();
    EXPECT_FALSE(cluster.tracker.jobs().at("job-1").gone) << "the other goes on";
    pods[1].over = pods[1].failed = true;
    change(pods);
    cluster.round();
    return cluster.tracker.jobs().at("job-1").gone;
  };
  EXPECT_FALSE(gone([](auto&) {}));
  EXPECT_TRUE(gone([](auto& pods) { pods.clear(); }));
  EXPECT_TRUE(gone([](auto& pods) {
    for (auto& pod : pods) pod.job.reset();
  })) << "the job is deleted, and its pods are not yet";
  EXPECT_TRUE(gone([](auto& pods) { pods[1].failed = false; })) << "the second try succeeded";
  SmallCluster later;
  for (auto& pod : later.seen.pods) {
    pod.over = pod.failed = true;
    pod.started = later.now - std::chrono::hours(1);
  }
  later.round();
  EXPECT_TRUE(later.tracker.jobs().at("job-1").gone) << "of before we came";
}

TEST(Tracker, gpus_of_which_nobody_tells_are_not_idle) {
  SmallCluster cluster;
  cluster.round();
  const auto gpus = std::exchange(cluster.reading.gpus, {});
  cluster.round();
  auto& pod = cluster.tracker.pods().at("pod-0");
  EXPECT_TRUE(std::isnan(pod.series.gpu.values().back()));
  EXPECT_TRUE(pod.gpus.at(0).now);
  cluster.reading.gpus = {gpus[1]};
  for (int i = 0; i < 25; ++i) cluster.round();
  EXPECT_FALSE(pod.gpus.at(0).now);
  EXPECT_EQ(cluster.tracker.nodes().at("n1").gpus.size(), 1u) << "one fell off the bus";
  cluster.reading.gpus[0].uuid = "GPU-new";
  cluster.round();
  EXPECT_EQ(cluster.tracker.nodes().at("n1").gpus.at("1").utilization.count(), 1u)
      << "another card";
}

TEST(Tracker, steps_of_long_ago_tell_no_end) {
  SmallCluster cluster;
  for (int round = 0; round < 20; ++round) {
    cluster.reading.progress[{"lab", "train-0"}] = {round * 10.0, 5000};
    cluster.round();
  }
  cluster.tracker.look(1);
  EXPECT_TRUE(cluster.tracker.pods().at("pod-0").findings.finish);
  cluster.reading.progress.clear();
  for (int round = 0; round < 20; ++round) cluster.round();
  cluster.tracker.look(1);
  EXPECT_FALSE(cluster.tracker.pods().at("pod-0").findings.finish);
}

}  // namespace
}  // namespace assay::cluster
