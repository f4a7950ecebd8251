// SPDX-License-Identifier: Apache-2.0
#include "history.h"

#include "testing/small_cluster.h"

#include <cstdlib>
#include <filesystem>
#include <unistd.h>

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

TEST_F(HistoryTest, a_job_goes_on_after_a_restart) {
  Timestamp first;
  {
    SmallCluster cluster;
    History history(*shelf_, kYear);
    cluster.reading.pods[{"lab", "train-0"}].cores = 12;
    ASSERT_TRUE(history.restore(cluster.seen, cluster.tracker));
    cluster.round();
    first = cluster.now;
    cluster.seen.pods.clear();
    cluster.round();
    ASSERT_TRUE(history.save(cluster.tracker, SystemClock().now(), false));
    EXPECT_FALSE(cluster.tracker.jobs().at("job-1").unsaved);
  }
  SmallCluster again;
  again.seen.pods.pop_back();
  History history(*shelf_, kYear);
  ASSERT_TRUE(history.restore(again.seen, again.tracker));
  again.now = first + std::chrono::hours(1);
  again.round();
  const auto& job = again.tracker.jobs().at("job-1");
  EXPECT_EQ(job.workers.size(), 2u);
  EXPECT_EQ(job.uses.cores.max(), 14);
  EXPECT_EQ(job.first, first);
  EXPECT_FALSE(job.gone);
}

TEST_F(HistoryTest, keeps_pods_and_nodes_and_forgets_the_oldest) {
  SmallCluster cluster;
  for (auto& pod : cluster.seen.pods) pod.job.reset();
  History history(*shelf_, std::chrono::hours(1));
  cluster.round();
  cluster.seen.pods.pop_back();
  cluster.round();
  ASSERT_TRUE(history.save(cluster.tracker, SystemClock().now(), true));
  EXPECT_EQ(shelf_->list(kPodKind)->size(), 2u) << "one that is gone and one that is there";
  EXPECT_EQ(shelf_->list(kNodeKind)->size(), 1u);
  ASSERT_TRUE(history.save(cluster.tracker, SystemClock().now() + std::chrono::hours(2), false));
  EXPECT_EQ(shelf_->list(kPodKind)->size(), 0u);
}

TEST_F(HistoryTest, less_never_takes_the_place_of_more) {
  SmallCluster cluster;
  History history(*shelf_, kYear);
  JobState old;
  old.object = cluster.job;
  old.workers["train-7"].cores = 3;
  ASSERT_TRUE(shelf_->put(kJobKind, "job-1", job_document(old)));
  cluster.round();  // the history was not asked: it did not answer
  ASSERT_TRUE(history.save(cluster.tracker, SystemClock().now(), false));
  EXPECT_NE(shelf_->find(kJobKind, "job-1")->value().json.find("train-7"), std::string::npos);
  ASSERT_TRUE(history.restore(cluster.seen, cluster.tracker));
  ASSERT_TRUE(history.save(cluster.tracker, SystemClock().now(), false));
  const auto kept = parse_job(shelf_->find(kJobKind, "job-1")->value().json);
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->workers.size(), 3u);
}

TEST_F(HistoryTest, who_takes_over_goes_on_with_what_the_other_knew) {
  SmallCluster cluster;
  History history(*shelf_, kYear);
  ASSERT_TRUE(history.restore(cluster.seen, cluster.tracker));
  cluster.round();
  JobState other;
  other.object = cluster.job;
  for (int i = 0; i < 10; ++i) other.uses.cores.add(5);
  other.workers["train-5"].cores = 5;
  ASSERT_TRUE(shelf_->put(kJobKind, "job-1", job_document(other)));
  history.take_over();
  ASSERT_TRUE(history.restore(cluster.seen, cluster.tracker));
  const auto& job = cluster.tracker.jobs().at("job-1");
  EXPECT_EQ(job.uses.cores.count(), 10u) << "nothing is counted twice";
  EXPECT_EQ(job.workers.size(), 3u);
}

TEST_F(HistoryTest, what_cannot_be_read_is_put_aside) {
  SmallCluster cluster;
  History history(*shelf_, kYear);
  ASSERT_TRUE(shelf_->put(kJobKind, "job-1", R"({"version": 9})"));
  ASSERT_TRUE(history.restore(cluster.seen, cluster.tracker));
  cluster.round();
  ASSERT_TRUE(history.save(cluster.tracker, SystemClock().now(), false));
  EXPECT_EQ(shelf_->find(kUnreadableKind, "job-1")->value().json, R"({"version": 9})");
  EXPECT_TRUE(parse_job(shelf_->find(kJobKind, "job-1")->value().json));
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

TEST(JobDocument, that_is_broken_is_an_error) {
  for (const char* text : {"", "{}", "[1]", R"({"object": 3})"})
    EXPECT_FALSE(parse_job(text)) << text;
}

}  // namespace
}  // namespace assay::cluster
