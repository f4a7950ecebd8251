// SPDX-License-Identifier: Apache-2.0
#include "lease.h"

#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

namespace assay::kubeapi {
namespace {

using Json = nlohmann::json;

const Timestamp kWall = from_unix_ns(1'767'323'045'120'000'000);
constexpr const char* kLease = R"({"metadata": {"name": "assay", "resourceVersion": "7",
  "labels": {"a": "b"}}, "spec": {"holderIdentity": "one", "leaseDurationSeconds": 15,
  "acquireTime": "2026-01-01T00:00:00.000000Z", "renewTime": "2026-01-02T00:00:00.000000Z",
  "leaseTransitions": 4, "strategy": "x"}})";

TEST(LeaseJson, is_read) {
  const auto lease = read_lease(kLease);
  ASSERT_TRUE(lease) << lease.error().message;
  EXPECT_EQ(lease->version, "7");
  EXPECT_EQ(lease->holder, "one");
  EXPECT_EQ(lease->renewed, "2026-01-02T00:00:00.000000Z");
  EXPECT_EQ(lease->transitions, 4);
  EXPECT_EQ(lease->duration, Milliseconds(15'000));
}

TEST(LeaseJson, of_nobody_or_with_impossible_numbers_is_one) {
  const auto bare = read_lease(R"({"metadata": {"resourceVersion": "1"}, "spec": null})");
  ASSERT_TRUE(bare);
  EXPECT_EQ(bare->holder, "");
  EXPECT_EQ(bare->duration, Milliseconds(1000));
  const auto odd = read_lease(R"({"metadata": {"resourceVersion": "1"},
      "spec": {"leaseDurationSeconds": 99999999999, "leaseTransitions": "x"}})");
  ASSERT_TRUE(odd);
  EXPECT_EQ(odd->duration, std::chrono::hours(1));
  for (const char* text : {"", "[]", "{}", R"({"metadata": {}})"})
    EXPECT_FALSE(read_lease(text)) << text;
}

TEST(LeaseJson, a_new_one_has_times_as_the_server_wants_them) {
  const Json lease = Json::parse(new_lease("lab", "assay", {"one", Milliseconds(14'500), kWall}));
  EXPECT_EQ(lease["kind"], "Lease");
  EXPECT_EQ(lease["metadata"]["namespace"], "lab");
  EXPECT_EQ(lease["spec"]["leaseDurationSeconds"], 15);
  EXPECT_EQ(lease["spec"]["renewTime"], "2026-01-02T03:04:05.120000Z");
  EXPECT_EQ(lease["spec"]["acquireTime"], lease["spec"]["renewTime"]);
}

TEST(LeaseJson, a_holder_changes_only_its_own_part) {
  const auto lease = read_lease(kLease);
  ASSERT_TRUE(lease);
  const Json kept = Json::parse(held_lease(*lease, {"one", Milliseconds(15'000), kWall}));
  EXPECT_EQ(kept["spec"]["acquireTime"], "2026-01-01T00:00:00.000000Z");
  EXPECT_EQ(kept["spec"]["leaseTransitions"], 4);
  EXPECT_EQ(kept["spec"]["strategy"], "x");
  EXPECT_EQ(kept["metadata"]["labels"]["a"], "b");
  EXPECT_EQ(kept["metadata"]["resourceVersion"], "7") << "or others could be overwritten";
  const Json taken = Json::parse(held_lease(*lease, {"two", Milliseconds(15'000), kWall}));
  EXPECT_EQ(taken["spec"]["holderIdentity"], "two");
  EXPECT_EQ(taken["spec"]["leaseTransitions"], 5);
  EXPECT_EQ(taken["spec"]["acquireTime"], "2026-01-02T03:04:05.120000Z");
}

}  // namespace
}  // namespace assay::kubeapi
