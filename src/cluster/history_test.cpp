// SPDX-License-Identifier: Apache-2.0
#include "history.h"

#include "history_documents.h"
#include "testing/history_fixture.h"

#include <algorithm>
#include <utility>

#include <gtest/gtest.h>

namespace assay::cluster {
namespace {

using testing::SmallCluster;

using testing::HistoryTest;
using testing::kYear;
using testing::Restart;

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

/// What the history has of the job of a small cluster.
Result<JobState> kept_job(store::Shelf& shelf) {
  ASSAY_TRY(const auto document, shelf.find(kJobKind, "job-1"));
  return document ? parse_job(document->json) : refused("there is none");
}

TEST_F(HistoryTest, a_job_that_ended_while_nobody_looked_is_kept_as_ended) {
  Timestamp last;
  {
    Restart before(*shelf_);
    ASSERT_TRUE(before.round());
    last = before.cluster.now;
    ASSERT_TRUE(before.save());
    ASSERT_FALSE(kept_job(*shelf_)->gone);
  }
  const auto forever = [] { return true; };
  Restart after(*shelf_);
  after.cluster.now = last + std::chrono::hours(1);
  ASSERT_TRUE(after.round());
  ASSERT_TRUE(after.history.end_missing(after.cluster.tracker, {}, forever));
  ASSERT_TRUE(after.save());
  EXPECT_FALSE(kept_job(*shelf_)->gone) << "it is there";

  Restart later(*shelf_);
  last = after.cluster.now;
  later.cluster.seen.pods.clear();
  later.cluster.now = last + std::chrono::hours(1);
  ASSERT_TRUE(later.round());
  ASSERT_TRUE(later.history.end_missing(later.cluster.tracker, {}, [] { return false; }));
  EXPECT_FALSE(kept_job(*shelf_)->gone) << "there was no time";
  ASSERT_TRUE(later.history.end_missing(later.cluster.tracker, {}, forever));
  const auto ended = kept_job(*shelf_);
  EXPECT_TRUE(ended->gone);
  EXPECT_EQ(ended->last, last);
  EXPECT_EQ(ended->workers.size(), 2u);
}

/// A profiler that finds the cluster without pods, and ends what it can.
Result<void> find_nothing(Restart& run, const HiddenJobs& hidden) {
  run.cluster.seen.pods.clear();
  ASSAY_CHECK(run.round());
  return run.history.end_missing(run.cluster.tracker, hidden, [] { return true; });
}

TEST_F(HistoryTest, a_job_that_may_be_hidden_is_ended_when_it_is_sure) {
  {
    Restart before(*shelf_);
    ASSERT_TRUE(before.round());
    ASSERT_TRUE(before.save());
  }
  HiddenJobs hidden;
  hidden.add_any("lab");
  Restart after(*shelf_);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(find_nothing(after, hidden));
    EXPECT_FALSE(kept_job(*shelf_)->gone);
  }
  HiddenJobs elsewhere;
  elsewhere.add_any("office");
  elsewhere.add("lab", {.group = "kubeflow.org", .kind = "PyTorchJob"});
  ASSERT_TRUE(find_nothing(after, elsewhere));
  EXPECT_TRUE(kept_job(*shelf_)->gone);
}

TEST_F(HistoryTest, jobs_of_another_cluster_are_left_alone) {
  {
    Restart before(*shelf_, "one");
    ASSERT_TRUE(before.round());
    ASSERT_TRUE(before.save());
  }
  Restart other(*shelf_, "another"), unknown(*shelf_, ""), same(*shelf_, "one");
  ASSERT_TRUE(find_nothing(other, {}));
  EXPECT_FALSE(kept_job(*shelf_)->gone) << "of another cluster";
  ASSERT_TRUE(find_nothing(unknown, {}));
  EXPECT_FALSE(kept_job(*shelf_)->gone) << "who knows of which";
  ASSERT_TRUE(find_nothing(same, {}));
  EXPECT_TRUE(kept_job(*shelf_)->gone);
  EXPECT_EQ(kept_job(*shelf_)->cluster, "one");
}

TEST_F(HistoryTest, a_job_keeps_its_cluster_when_it_is_saved_without) {
  for (const char* cluster : {"one", ""}) {
    Restart run(*shelf_, cluster);
    ASSERT_TRUE(run.round());
    ASSERT_TRUE(run.save());
  }
  EXPECT_EQ(kept_job(*shelf_)->cluster, "one");
  Restart first(*shelf_, "");
  first.cluster.seen.pods[0].job->uid = "job-2";
  ASSERT_TRUE(first.round());
  ASSERT_TRUE(first.save());
  Restart later(*shelf_, "");
  ASSERT_TRUE(find_nothing(later, {}));
  EXPECT_FALSE(parse_job(shelf_->find(kJobKind, "job-2")->value().json)->gone) << "of no cluster";
}

TEST_F(HistoryTest, who_takes_over_also_ends_what_ended_before) {
  Restart run(*shelf_);
  ASSERT_TRUE(run.round());
  ASSERT_TRUE(run.save());
  ASSERT_TRUE(run.history.end_missing(run.cluster.tracker, {}, [] { return true; }));
  run.cluster.seen.pods.clear();
  ASSERT_TRUE(run.round());
  run.cluster.tracker.jobs().at("job-1").unsaved = false;  // while another one leads
  run.history.take_over(run.cluster.tracker);
  ASSERT_TRUE(run.round());
  ASSERT_TRUE(run.history.end_missing(run.cluster.tracker, {}, [] { return true; }));
  ASSERT_TRUE(run.save());
  EXPECT_TRUE(kept_job(*shelf_)->gone);
}

TEST_F(HistoryTest, a_job_that_is_over_keeps_the_time_when_it_was_last_at_work) {
  Timestamp last;
  {
    Restart before(*shelf_);
    ASSERT_TRUE(before.round());
    last = before.cluster.now;
    ASSERT_TRUE(before.save());
  }
  Restart after(*shelf_);
  after.cluster.now = last + std::chrono::hours(1);
  for (auto& pod : after.cluster.seen.pods) pod.over = true;
  ASSERT_TRUE(after.round());
  ASSERT_TRUE(after.save());
  EXPECT_TRUE(kept_job(*shelf_)->gone);
  EXPECT_EQ(kept_job(*shelf_)->last, last);
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

/// Cannot answer what is asked of one kind.
class HalfShelf : public store::Shelf {
 public:
  HalfShelf(store::Shelf& shelf, std::string broken) : shelf_(shelf), broken_(std::move(broken)) {}

  Result<void> put(const std::string& kind, const std::string& name,
                   const std::string& json) override {
    return shelf_.put(kind, name, json);
  }
  Result<void> put_all(const std::string& kind,
                       std::span<const std::pair<std::string, std::string>> documents) override {
    return shelf_.put_all(kind, documents);
  }
  Result<void> remove_older(const std::string& kind, Timestamp than) override {
    return shelf_.remove_older(kind, than);
  }
  Result<bool> remove(const std::string& kind, const std::string& name) override {
    return shelf_.remove(kind, name);
  }
  Result<std::vector<store::Document>> list(const std::string& kind) override {
    return shelf_.list(kind);
  }
  Result<std::vector<std::string>> names(const std::string& kind) override {
    return shelf_.names(kind);
  }
  Result<std::optional<store::Document>> find(const std::string& kind,
                                              const std::string& name) override {
    if (kind == broken_) return refused("the connection was lost");
    return shelf_.find(kind, name);
  }
  Result<std::optional<Timestamp>> written(const std::string& kind,
                                           const std::string& name) override {
    return shelf_.written(kind, name);
  }
  void mend() { broken_.clear(); }

 private:
  store::Shelf& shelf_;
  std::string broken_;
};

TEST_F(HistoryTest, a_pod_whose_second_kind_could_not_be_asked_for_is_read_back_later) {
  {
    Restart before(*shelf_);
    for (auto& pod : before.cluster.seen.pods) pod.job.reset();
    before.cluster.reading.pods[{"lab", "train-0"}].cores = 12;
    ASSERT_TRUE(before.round());
    ASSERT_TRUE(before.save());
  }
  HalfShelf shelf(*shelf_, kPodKind);
  Restart after(shelf);
  EXPECT_FALSE(after.round());
  EXPECT_FALSE(after.cluster.tracker.pods().at("pod-0").read_back);
  shelf.mend();
  ASSERT_TRUE(after.round());
  EXPECT_EQ(after.cluster.tracker.pods().at("pod-0").uses.cores.max(), 12);
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

TEST(HistoryDocument, that_is_broken_is_an_error) {
  for (const char* text : {"", "{}", "[1]", R"({"object": 3})"}) {
    EXPECT_FALSE(parse_job(text)) << text;
    EXPECT_FALSE(parse_pod(text)) << text;
    EXPECT_FALSE(parse_node(text)) << text;
  }
}

TEST(NodeDocument, has_the_class_of_its_processor) {
  NodeState node{.object = {kubeapi::nodes(), "", "n1", "node-1"}};
  EXPECT_FALSE(parse_node(node_document(node))->pattern);
  node.pattern = Pattern{.use = analysis::UseClass::steady};
  const auto kept = parse_node(node_document(node));
  ASSERT_TRUE(kept && kept->pattern);
  EXPECT_EQ(kept->pattern->use, analysis::UseClass::steady);
}

}  // namespace
}  // namespace assay::cluster
