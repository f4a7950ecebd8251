// SPDX-License-Identifier: Apache-2.0
#include "trial_room.h"

#include "testing/api_server.h"

#include <gtest/gtest.h>

namespace assay::cluster {
namespace {

using kubeapi::testing::answer;
using kubeapi::testing::ApiServer;
using kubeapi::testing::path_of;

std::string page(const std::vector<std::string>& items, const std::string& next) {
  std::string all;
  for (const auto& item : items) all += (all.empty() ? "" : ",") + item;
  return answer(200, fmt::format(R"({{"metadata": {{"resourceVersion": "7", "continue": "{}"}},
      "items": [{}]}})",
                                 next, all));
}

std::string node(int number) {
  return fmt::format(R"({{"metadata": {{"name": "n{:03}", "uid": "n{}"}}, "status": {{
      "allocatable": {{"nvidia.com/gpu": "4", "cpu": "8"}},
      "conditions": [{{"type": "Ready", "status": "True"}}]}}}})",
                     number, number);
}

std::string pod(int number, const std::string& requests) {
  return fmt::format(R"({{"metadata": {{"name": "p{0}", "uid": "p{0}"}}, "spec": {{
      "nodeName": "n{0:03}", "containers": [{{"name": "main", "resources": {{"requests": {1}}}}}]}}}})",
                     number, requests);
}

std::vector<std::string> many(int from, int to, const std::function<std::string(int)>& make) {
  std::vector<std::string> all;
  for (int i = from; i < to; ++i) all.push_back(make(i));
  return all;
}

Result<bool> room(const ApiServer& server, const RoomWanted& wanted) {
  kubeapi::Client client(server.access());
  net::Stopper stopper;
  return has_room(client, wanted, stopper);
}

TEST(TrialRoom, all_nodes_and_pods_count_page_by_page) {
  const auto full = [](int i) { return pod(i, R"({"nvidia.com/gpu": "4"})"); };
  const ApiServer server({page(many(0, 40, node), "more"), page(many(40, 70, node), ""),
                          page(many(0, 40, full), "more"), page(many(40, 69, full), "")});
  const auto found = room(server, {.resource = "nvidia.com/gpu", .pods = 2, .each = 2});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_TRUE(*found) << "on the last of seventy";
  const auto asked = server.asked();
  ASSERT_EQ(asked.size(), 4U) << "one list of pods is enough for all nodes";
  EXPECT_NE(path_of(asked[3]).find("continue=more"), std::string::npos);
  EXPECT_EQ(path_of(asked[2]).find("spec.nodeName"), std::string::npos);
}

TEST(TrialRoom, of_few_nodes_each_is_asked_for_and_processors_count_too) {
  const ApiServer server(
      {page(many(0, 2, node), ""), page({pod(0, R"({"cpu": "6500m"})")}, ""), page({}, "")});
  const auto found = room(server, {.resource = "cpu", .pods = 3, .each = 3});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_FALSE(*found) << "none on the first, two on the second";
  const auto asked = server.asked();
  ASSERT_EQ(asked.size(), 3U);
  EXPECT_NE(path_of(asked[1]).find("spec.nodeName%3Dn000"), std::string::npos);
}

TEST(TrialRoom, what_pods_are_not_asked_about_is_not_guessed) {
  const ApiServer server({});
  EXPECT_FALSE(room(server, {.resource = "memory"}));
}

TEST(TrialRoom, AQuotaMayAllowLaterWhatItAllowsAtAll) {
  const auto may = [](const char* refusal) { return quota_may_allow(refusal, 1); };
  EXPECT_TRUE(
      may("pods \"x\" is forbidden: exceeded quota: lab, requested: requests.cpu=2, "
          "used: requests.cpu=3, limited: requests.cpu=4"));
  EXPECT_TRUE(
      may("exceeded quota: lab, requested: memory=1Gi,cpu=500m, used: memory=2Gi,cpu=2, "
          "limited: memory=2Gi,cpu=2"));
  EXPECT_FALSE(
      may("exceeded quota: lab, requested: memory=1Gi,cpu=3, used: memory=2Gi,cpu=2, "
          "limited: memory=2Gi,cpu=2"));
  const char* const kPods = "requested: cpu=1, used: cpu=3, limited: cpu=3; ask for more";
  EXPECT_TRUE(quota_may_allow(kPods, 3));
  EXPECT_FALSE(quota_may_allow(kPods, 4)) << "its other pods are those that use it";
  for (const char* text : {"exceeded quota: lab, requested: cpu=2", "exceeded quota: lab", "",
                           "requested: cpu, limited: cpu"})
    EXPECT_FALSE(may(text)) << text;
}

TEST(TrialRoom, SchedulersSayWhatTheyLack) {
  EXPECT_EQ(insufficient_in("0/3 nodes are available: 1 Insufficient cpu, 1 Insufficient "
                            "nvidia.com/gpu, 1 Insufficient memory."),
            (std::set<std::string>{"cpu", "memory", "nvidia.com/gpu"}));
  EXPECT_TRUE(insufficient_in("0/1 nodes are available: 1 node(s) didn't match").empty());
}

}  // namespace
}  // namespace assay::cluster
