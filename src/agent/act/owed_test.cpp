// SPDX-License-Identifier: Apache-2.0
#include "act/owed.h"

#include "testing/machine.h"

#include <gtest/gtest.h>

namespace assay::agent {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

const Original kHalf{.limits = {.cores = 0.5}};

class OwedTest : public ::testing::Test {
 protected:
  std::string container(char digit, const std::string& below = "/docker/") {
    std::string path = below + std::string(64, digit);
    machine_.make_group(path, 0, 1000);
    table_.group_appeared(path);
    return path;
  }
  std::string due(bool named = false) {
    const auto found = owed_.due(table_, named, clock_.now());
    return found ? found->path : "";
  }

  const testing::Machine machine_;
  ManualClock clock_{from_unix_ns(1'700'000'000'000'000'000)};
  LiveTable table_{machine_.root(), clock_, {}};
  Owed owed_;
};

TEST_F(OwedTest, what_runs_is_due_and_what_failed_lets_others_go_first) {
  const auto a = container('a');
  const auto b = container('b');
  owed_.add(a, kHalf, clock_.now());
  owed_.add(b, kHalf, clock_.now());
  owed_.add("/docker/gone", kHalf, clock_.now());
  EXPECT_EQ(due(), a);
  owed_.failed(a, clock_.now());
  EXPECT_EQ(due(), b);
  owed_.paid(b);
  EXPECT_EQ(due(), "");
  clock_.advance(minutes(1));
  EXPECT_EQ(due(), a);
  EXPECT_EQ(owed_.all().size(), 2U) << "one of Docker's may be started again";
}

TEST_F(OwedTest, a_container_that_its_pod_has_started_anew_is_owed_the_same) {
  const std::string pod = "/kubepods/pod11111111-2222-3333-4444-555555555555/";
  const auto again = container('c', pod);
  LiveApp& app = *table_.find(again);
  owed_.add(pod + std::string(64, 'd'),
            {.limits = {.cores = 2}, .pod_uid = app.identity().group.pod_uid, .container = "main"},
            clock_.now());
  ASSERT_FALSE(app.identity().group.pod_uid.empty());
  EXPECT_EQ(due(), "") << "not named yet";
  AppIdentity identity = app.identity();
  identity.container = "main";
  app.identify(identity);
  EXPECT_EQ(due(), again);
  EXPECT_EQ(due(true), "") << "its cluster has not named it";
  identity.pod = "train-1";
  app.identify(identity);
  EXPECT_EQ(due(true), again);
}

TEST_F(OwedTest, pods_that_are_gone_are_forgotten_after_an_hour) {
  Original of_pod = kHalf;
  of_pod.pod_uid = "u1";
  of_pod.container = "main";
  owed_.add("/kubepods/podu1/x", of_pod, clock_.now());
  owed_.add("/docker/y", kHalf, clock_.now());
  clock_.advance(minutes(59));
  due();
  EXPECT_EQ(owed_.all().size(), 2U);
  clock_.advance(minutes(1));
  due();
  EXPECT_EQ(owed_.all(), (Originals{{"/docker/y", kHalf}}));
}

}  // namespace
}  // namespace assay::agent
