// SPDX-License-Identifier: Apache-2.0
#include "history.h"

#include "history_documents.h"
#include "testing/small_cluster.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <unistd.h>
#include <utility>

#include <assay/cluster/jobs.h>
#include <gtest/gtest.h>

namespace assay::cluster {
namespace {

using testing::SmallCluster;

class HistoryTest : public ::testing::Test {
 protected:
  HistoryTest() {
    std::string name = (std::filesystem::temp_directory_path() / "assay-cluster-XXXXXX").native();
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    folder_ = name;
    shelf_ = std::move(*store::Shelf::open_sqlite(folder_ / "h.db"));
  }
  ~HistoryTest() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  std::filesystem::path folder_;
  std::unique_ptr<store::Shelf> shelf_;
};

constexpr Nanoseconds kYear = std::chrono::hours(24 * 365);

/// What a restart of the profiler leaves: the history, and the cluster as it was.
struct Restart {
  explicit Restart(store::Shelf& shelf) : history(shelf, kYear) {}

  Result<void> round() {
    cluster.round();
    return history.restore(cluster.tracker, [this] { return allowed-- > 0; });
  }
  Result<void> save(bool all = true) {
    return history.save(cluster.tracker, SystemClock().now(), all);
  }

  SmallCluster cluster;
  History history;
  int allowed = 1000;
};

TEST_F(HistoryTest, a_job_goes_on_after_a_restart) {
  Timestamp first;
  {
    Restart before(*shelf_);
    before.cluster.reading.pods[{"lab", "train-0"}].cores = 12;
    ASSERT_TRUE(before.round());
    first = before.cluster.now;
    before.cluster.seen.pods.clear();
    ASSERT_TRUE(before.round());
    ASSERT_TRUE(before.save(false));
    EXPECT_FALSE(before.cluster.tracker.jobs().at("job-1").unsaved);
  }
  Restart after(*shelf_);
  after.cluster.seen.pods.pop_back();
  after.cluster.now = first + std::chrono::hours(1);
  ASSERT_TRUE(after.round());
  const auto& job = after.cluster.tracker.jobs().at("job-1");
  EXPECT_EQ(job.workers.size(), 2u);
  EXPECT_EQ(job.uses.cores.max(), 14);
  EXPECT_EQ(job.uses.cores.last(), 1);
  EXPECT_EQ(job.first, first);
  EXPECT_FALSE(job.gone);
}

TEST_F(HistoryTest, nodes_and_pods_go_on_after_a_restart) {
  Timestamp first;
  {
    Restart before(*shelf_);
    before.cluster.seen.pods[1].job.reset();
    for (auto& [key, use] : before.cluster.reading.pods) use.cores = 12;
    before.cluster.reading.nodes["n1"].cores = 30;
    for (auto& gpu : before.cluster.reading.gpus) gpu.utilization = 99;
    ASSERT_TRUE(before.round());
    first = before.cluster.now;
    ASSERT_TRUE(before.save());
  }
  Restart after(*shelf_);
  after.cluster.seen.pods[1].job.reset();
  after.cluster.now = first + std::chrono::hours(1);
  ASSERT_TRUE(after.round());
  auto& tracker = after.cluster.tracker;
  for (const char* uid : {"pod-0", "pod-1"}) {
    const auto& pod = tracker.pods().at(uid);
    EXPECT_EQ(pod.uses.cores.max(), 12) << uid << ": of a job and of none";
    EXPECT_EQ(pod.uses.cores.count(), 2u);
    EXPECT_LT(pod.uses.cores.last(), 3) << "now is now";
    EXPECT_EQ(pod.first, first);
    ASSERT_EQ(pod.gpus.size(), 1u);
    EXPECT_EQ(pod.gpus[0].utilization.max(), 99);
    EXPECT_EQ(pod.gpus[0].memory_share.count(), 2u);
    EXPECT_TRUE(pod.gpus[0].now);
  }
  const auto& node = tracker.nodes().at("n1");
  EXPECT_EQ(node.uses.cores.max(), 30);
  EXPECT_EQ(node.gpus.at("1").utilization.max(), 99);
  EXPECT_EQ(node.gpus.at("1").utilization.count(), 2u);
  EXPECT_EQ(node.gpus.at("1").now.utilization, 80);
}

TEST_F(HistoryTest, class_and_kind_stay_until_they_can_be_told_again) {
  const auto kind_of = [](Restart& run) { return run.cluster.tracker.pods().at("pod-0").findings; };
  {
    Restart before(*shelf_);
    ASSERT_TRUE(before.round());
    auto& found = before.cluster.tracker.pods().at("pod-0").findings;
    found.kind = "training";
    found.kind_confidence = 0.8;
    found.evidence = "epochs of 300 s";
    found.pattern = Pattern{.use = analysis::UseClass::bursty};
    ASSERT_TRUE(before.save());
  }
  Restart after(*shelf_);
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(after.round());
    after.cluster.tracker.look(1);
  }
  EXPECT_EQ(kind_of(after).kind, "training");
  EXPECT_EQ(kind_of(after).kind_confidence, 0.8);
  EXPECT_EQ(kind_of(after).evidence, "epochs of 300 s");
  ASSERT_TRUE(kind_of(after).pattern);
  EXPECT_EQ(kind_of(after).pattern->use, analysis::UseClass::bursty);
  const auto told = std::exchange(after.cluster.reading, {});
  for (int i = 0; i < 15; ++i) ASSERT_TRUE(after.round());
  after.cluster.tracker.look(1);
  ASSERT_TRUE(kind_of(after).pattern) << "rounds without a reading tell nothing";
  after.cluster.reading = told;
  for (int i = 0; i < 15; ++i) ASSERT_TRUE(after.round());
  after.cluster.tracker.look(1);
  ASSERT_TRUE(kind_of(after).pattern);
  EXPECT_EQ(kind_of(after).pattern->use, analysis::UseClass::steady) << "found again";
}

TEST_F(HistoryTest, others_of_the_same_name_begin_anew) {
  {
    Restart before(*shelf_);
    ASSERT_TRUE(before.round());
    ASSERT_TRUE(before.save());
  }
  Restart after(*shelf_);
  after.cluster.seen.pods[0].object.uid = "pod-new";
  after.cluster.reading.gpus[1].uuid = "GPU-new";
  ASSERT_TRUE(after.round());
  auto& tracker = after.cluster.tracker;
  EXPECT_EQ(tracker.pods().at("pod-new").uses.cores.count(), 1u);
  EXPECT_EQ(tracker.pods().at("pod-1").uses.cores.count(), 2u);
  EXPECT_EQ(tracker.nodes().at("n1").gpus.at("0").utilization.count(), 2u);
  EXPECT_EQ(tracker.nodes().at("n1").gpus.at("1").utilization.count(), 1u) << "another card";

  Restart other(*shelf_);
  other.cluster.seen.nodes[0].object.uid = "node-new";
  ASSERT_TRUE(other.round());
  EXPECT_EQ(other.cluster.tracker.nodes().at("n1").uses.cores.count(), 1u);
}

TEST_F(HistoryTest, a_gpu_that_nobody_tells_of_yet_goes_on_when_somebody_does) {
  {
    Restart before(*shelf_);
    ASSERT_TRUE(before.round());
    ASSERT_TRUE(before.save());
  }
  Restart after(*shelf_);
  const auto told = std::exchange(after.cluster.reading.gpus, {});
  ASSERT_TRUE(after.round());
  after.cluster.reading.gpus = told;
  ASSERT_TRUE(after.round());
  EXPECT_EQ(after.cluster.tracker.nodes().at("n1").gpus.at("0").utilization.count(), 2u);
  EXPECT_EQ(after.cluster.tracker.pods().at("pod-0").gpus.at(0).utilization.count(), 2u);
}

TEST_F(HistoryTest, is_read_back_in_parts_and_each_once) {
  {
    Restart before(*shelf_);
    ASSERT_TRUE(before.round());
    ASSERT_TRUE(before.save());
  }
  Restart after(*shelf_);
  auto& tracker = after.cluster.tracker;
  for (int round = 1; round <= 6; ++round) {
    after.allowed = 1;
    ASSERT_TRUE(after.round());
    int read = tracker.jobs().at("job-1").read_back + tracker.nodes().at("n1").read_back;
    for (const auto& [uid, pod] : tracker.pods()) read += pod.read_back;
    EXPECT_EQ(read, std::min(4, round));
  }
  for (const auto& [uid, pod] : tracker.pods()) EXPECT_EQ(pod.uses.cores.count(), 7u) << uid;
}

TEST_F(HistoryTest, saves_all_that_is_there_within_its_turns) {
  Restart run(*shelf_);
  for (int i = 0; i < 30; ++i) {
    const auto name = "web-" + std::to_string(i);
    run.cluster.seen.pods.push_back({.object = {kubeapi::pods(), "lab", name, "uid-" + name}});
    run.cluster.reading.pods[{"lab", name}] = {.cores = 1};
  }
  ASSERT_TRUE(run.round());
  ASSERT_TRUE(run.save(false));
  EXPECT_LT(shelf_->list(kPodKind)->size(), 30u);
  for (size_t turn = 1; turn < History::kTurns; ++turn) ASSERT_TRUE(run.save(false));
  EXPECT_EQ(shelf_->list(kPodKind)->size(), 30u);
  EXPECT_EQ(shelf_->list(kWorkerKind)->size(), 2u);
  EXPECT_EQ(shelf_->list(kNodeKind)->size(), 1u);
}

TEST_F(HistoryTest, keeps_pods_and_nodes_and_forgets_the_oldest) {
  SmallCluster cluster;
  for (auto& pod : cluster.seen.pods) pod.job.reset();
  History history(*shelf_, std::chrono::hours(1));
  cluster.round();
  ASSERT_TRUE(history.restore(cluster.tracker, [] { return true; }));
  cluster.seen.pods.pop_back();
  cluster.round();
  ASSERT_TRUE(history.save(cluster.tracker, SystemClock().now(), true));
  EXPECT_EQ(shelf_->list(kPodKind)->size(), 2u) << "one that is gone and one that is there";
  EXPECT_EQ(shelf_->list(kNodeKind)->size(), 1u);
  ASSERT_TRUE(history.save(cluster.tracker, SystemClock().now() + std::chrono::hours(2), false));
  EXPECT_EQ(shelf_->list(kPodKind)->size(), 0u);
}

TEST_F(HistoryTest, a_pod_that_ended_before_it_was_read_back_is_kept_where_no_more_is_known) {
  SmallCluster cluster;
  for (auto& pod : cluster.seen.pods) pod.job.reset();
  History history(*shelf_, kYear);
  ASSERT_TRUE(shelf_->put(kPodKind, "pod-0", "{}"));
  cluster.round();  // the history was not asked: it did not answer
  cluster.seen.pods.clear();
  cluster.round();
  ASSERT_TRUE(history.save(cluster.tracker, SystemClock().now(), true));
  EXPECT_EQ(shelf_->find(kPodKind, "pod-0")->value().json, "{}") << "that was of its whole life";
  EXPECT_TRUE(shelf_->find(kPodKind, "pod-1")->has_value());
}

TEST_F(HistoryTest, a_worker_has_a_document_while_it_is_there) {
  Restart run(*shelf_);
  ASSERT_TRUE(run.round());
  ASSERT_TRUE(run.save());
  EXPECT_EQ(shelf_->list(kWorkerKind)->size(), 2u);
  run.cluster.seen.pods.clear();
  ASSERT_TRUE(run.round());
  const auto days = SystemClock().now() + std::chrono::hours(24 * 3);
  ASSERT_TRUE(run.history.save(run.cluster.tracker, days, true));
  EXPECT_EQ(shelf_->list(kWorkerKind)->size(), 0u);
  const auto job = parse_job(shelf_->find(kJobKind, "job-1")->value().json);
  ASSERT_TRUE(job);
  EXPECT_EQ(job->workers.at("train-1").cores, 2) << "then its job tells";
}

TEST_F(HistoryTest, less_never_takes_the_place_of_more) {
  SmallCluster cluster;
  History history(*shelf_, kYear);
  JobState old;
  old.object = cluster.job;
  old.workers["train-7"].cores = 3;
  ASSERT_TRUE(shelf_->put(kJobKind, "job-1", job_document(old)));
  ASSERT_TRUE(shelf_->put(kWorkerKind, "pod-0", "{}"));
  cluster.round();  // the history was not asked: it did not answer
  ASSERT_TRUE(history.save(cluster.tracker, SystemClock().now(), true));
  EXPECT_NE(shelf_->find(kJobKind, "job-1")->value().json.find("train-7"), std::string::npos);
  EXPECT_EQ(shelf_->find(kWorkerKind, "pod-0")->value().json, "{}");
  ASSERT_TRUE(history.restore(cluster.tracker, [] { return true; }));
  ASSERT_TRUE(history.save(cluster.tracker, SystemClock().now(), true));
  const auto kept = parse_job(shelf_->find(kJobKind, "job-1")->value().json);
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->workers.size(), 3u);
}

TEST_F(HistoryTest, who_takes_over_goes_on_with_what_the_other_knew) {
  Restart run(*shelf_);
  ASSERT_TRUE(run.round());
  JobState job;
  job.object = run.cluster.job;
  PodRecord pod{.object = run.cluster.seen.pods[0].object};
  for (int i = 0; i < 10; ++i) {
    job.uses.cores.add(5);
    pod.uses.cores.add(0.5);
  }
  job.workers["train-5"].cores = 5;
  ASSERT_TRUE(shelf_->put(kJobKind, "job-1", job_document(job)));
  ASSERT_TRUE(shelf_->put(kWorkerKind, "pod-0", pod_document(pod)));
  run.history.take_over(run.cluster.tracker);
  ASSERT_TRUE(run.history.restore(run.cluster.tracker, [] { return true; }));
  const auto& known = run.cluster.tracker.jobs().at("job-1");
  EXPECT_EQ(known.uses.cores.count(), 10u) << "nothing is counted twice";
  EXPECT_EQ(known.workers.size(), 3u);
  const auto& worker = run.cluster.tracker.pods().at("pod-0");
  EXPECT_EQ(worker.uses.cores.count(), 10u);
  EXPECT_EQ(worker.uses.cores.max(), 1) << "which only this one saw";
  EXPECT_EQ(worker.uses.cores.last(), 1);
}

TEST_F(HistoryTest, what_cannot_be_read_is_put_aside) {
  const std::pair<const char*, const char*> documents[] = {
      {kJobKind, "job-1"}, {kWorkerKind, "pod-0"}, {kNodeKind, "n1"}};
  for (const auto& [kind, name] : documents)
    ASSERT_TRUE(shelf_->put(kind, name, R"({"version": 9})"));
  Restart run(*shelf_);
  ASSERT_TRUE(run.round());
  ASSERT_TRUE(run.save());
  for (const auto& [kind, name] : documents)
    EXPECT_EQ(shelf_->find(std::string(kind) + kUnreadable, name)->value().json,
              R"({"version": 9})");
  EXPECT_TRUE(parse_job(shelf_->find(kJobKind, "job-1")->value().json));
  EXPECT_TRUE(parse_pod(shelf_->find(kWorkerKind, "pod-0")->value().json));
  EXPECT_TRUE(parse_node(shelf_->find(kNodeKind, "n1")->value().json));
}

TEST_F(HistoryTest, jobs_are_listed_the_newest_first) {
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
  EXPECT_EQ((*jobs)[1].gpu_mean, 70);
  EXPECT_EQ((*jobs)[1].resource, "MPIJob");
}

TEST(HistoryDocument, that_is_broken_is_an_error) {
  for (const char* text : {"", "{}", "[1]", R"({"object": 3})"}) {
    EXPECT_FALSE(parse_job(text)) << text;
    EXPECT_FALSE(parse_pod(text)) << text;
    EXPECT_FALSE(parse_node(text)) << text;
  }
}

}  // namespace
}  // namespace assay::cluster
