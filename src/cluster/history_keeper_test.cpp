// SPDX-License-Identifier: Apache-2.0
#include "history_keeper.h"

#include "history_documents.h"
#include "testing/api_server.h"
#include "testing/history_fixture.h"

#include <assay/cluster/jobs.h>

namespace assay::cluster {
namespace {

class HistoryKeeperTest : public testing::HistoryTest {
 protected:
  HistoryKeeperTest() {
    settings_.history = folder_ / "h.db";
    EXPECT_TRUE(keeper_.open());
    cluster_.round();
    keeper_.read_back(cluster_.tracker);
  }
  size_t kept() const { return list_jobs(*shelf_)->size(); }

  kubeapi::testing::ApiServer server_{std::vector<std::string>()};
  kubeapi::Client client_{server_.access()};
  ManualClock clock_{Timestamp(std::chrono::seconds(1'700'000'000))};
  net::Stopper stopper_;
  ProfilerSettings settings_;
  testing::SmallCluster cluster_;
  // Nobody waits: the clock stands still while it reads back.
  HistoryKeeper keeper_{settings_, client_, clock_, [](const std::string&) {}, stopper_};
};

TEST_F(HistoryKeeperTest, saves_every_few_minutes_and_at_the_end) {
  keeper_.lead(cluster_.tracker, true);
  keeper_.save(cluster_.tracker, true, false);
  EXPECT_EQ(kept(), 0u);
  clock_.advance(std::chrono::minutes(5));
  keeper_.save(cluster_.tracker, true, false);
  EXPECT_EQ(kept(), 1u);
  EXPECT_TRUE(keeper_.is_saved());
}

TEST_F(HistoryKeeperTest, who_has_just_begun_to_lead_saves_nothing_before_it_read_back) {
  keeper_.lead(cluster_.tracker, false);
  keeper_.save(cluster_.tracker, true, true);
  EXPECT_EQ(kept(), 0u) << "it leads since this round began, and knows less than others";
  cluster_.round();
  keeper_.lead(cluster_.tracker, true);
  keeper_.save(cluster_.tracker, true, true);
  EXPECT_EQ(kept(), 0u);
  keeper_.read_back(cluster_.tracker);
  keeper_.save(cluster_.tracker, false, true);
  EXPECT_EQ(kept(), 0u) << "it leads no longer";
  cluster_.round();
  keeper_.save(cluster_.tracker, true, true);
  EXPECT_EQ(kept(), 1u);
}

}  // namespace
}  // namespace assay::cluster
