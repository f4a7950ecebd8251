// SPDX-License-Identifier: Apache-2.0
#include "testing/api_server.h"

#include <algorithm>
#include <fmt/format.h>

#include <assay/cluster/profiler.h>
#include <gtest/gtest.h>

namespace assay::cluster {
namespace {

using kubeapi::testing::answer;
using kubeapi::testing::ApiServer;
using kubeapi::testing::path_of;

const std::string kEmpty = answer(200, R"({"metadata": {"resourceVersion": "1"}, "items": []})");
const std::string kDone =
    answer(200, R"({"metadata": {"name": "train", "uid": "m", "resourceVersion": "2"}})");
const std::string kGroups = answer(200, R"({"groups": [
    {"name": "apps", "preferredVersion": {"version": "v1"}, "versions": [{"version": "v1"}]},
    {"name": "metrics.k8s.io", "preferredVersion": {"version": "v1"}},
    {"name": "kubeflow.org", "preferredVersion": {"version": "v1"}}]})");
const std::string kKinds = answer(200, R"({"groupVersion": "kubeflow.org/v1", "resources": [
    {"name": "mpijobs", "kind": "MPIJob", "namespaced": true, "verbs": ["list", "patch"]},
    {"name": "tfjobs", "kind": "TFJob", "namespaced": true, "verbs": ["list", "patch"]}]})");
const std::string kJobs = answer(200, R"({"metadata": {"resourceVersion": "1"}, "items": [
    {"metadata": {"name": "train", "namespace": "lab", "uid": "m",
                  "annotations": {"ai.centaurus.io/usage": "{}"}}},
    {"metadata": {"name": "other", "namespace": "lab", "uid": "o",
                  "annotations": {"ai.centaurus.iox/usage": "{}"}}}]})");

struct Cleaning {
  explicit Cleaning(std::vector<std::string> answers) : server(std::move(answers)) {
    net::Stopper stopper;
    result = clean(
        {.cluster = server.access(), .requests_per_second = 1000},
        [this](const std::string& sentence) { told.push_back(sentence); }, stopper);
    for (const auto& request : server.asked())
      asked.push_back(request.substr(0, request.find(' ')) + " " +
                      path_of(request).substr(0, path_of(request).find('?')));
  }
  bool has_asked(const std::string& what) const {
    return std::find(asked.begin(), asked.end(), what) != asked.end();
  }

  ApiServer server;
  Result<size_t> result = 0;
  std::vector<std::string> told;
  std::vector<std::string> asked;
};

TEST(Clean, finds_jobs_of_which_no_pod_is_left) {
  const Cleaning run({kEmpty, kEmpty, kEmpty, kGroups, kKinds, kJobs, kDone, kDone, kEmpty});
  ASSERT_TRUE(run.result) << run.result.error().message;
  EXPECT_EQ(*run.result, 1u);
  EXPECT_TRUE(run.told.empty());
  EXPECT_TRUE(run.has_asked("PATCH /apis/kubeflow.org/v1/namespaces/lab/mpijobs/train"));
  EXPECT_TRUE(run.has_asked("GET /apis/kubeflow.org/v1/tfjobs"));
  for (const auto& request : run.asked) {
    EXPECT_EQ(request.find("/apis/apps"), std::string::npos) << "nothing of ours is there";
    EXPECT_EQ(request.find("metrics.k8s.io"), std::string::npos);
    EXPECT_EQ(request.find("other"), std::string::npos) << "another domain";
  }
}

TEST(Clean, takes_away_what_trials_wrote_too) {
  const std::string tried = answer(200, R"({"metadata": {"resourceVersion": "1"}, "items": [
      {"metadata": {"name": "train", "namespace": "lab", "uid": "m",
                    "annotations": {"ai.centaurus.io/trial": "{}"}}}]})");
  const Cleaning run(
      {kEmpty, kEmpty, kEmpty, kGroups, kKinds, tried, kDone, kDone, kDone, kDone, kEmpty});
  ASSERT_TRUE(run.result) << run.result.error().message;
  EXPECT_EQ(*run.result, 1u);
  std::string managers;
  for (const auto& request : run.server.asked())
    for (const std::string one : {"assay-profiler", "assay-trial"})
      if (request.find("fieldManager=" + one) != std::string::npos) managers += one + " ";
  EXPECT_NE(managers.find("assay-trial"), std::string::npos) << managers;
  EXPECT_NE(managers.find("assay-profiler"), std::string::npos) << managers;
}

TEST(Clean, finds_a_trials_key_behind_hundreds_of_others) {
  std::string others;
  for (int i = 0; i < 1000; ++i) others += fmt::format(R"("a.b/{}": "", )", i);
  const std::string tried =
      answer(200, fmt::format(R"({{"metadata": {{"resourceVersion": "1"}}, "items": [
      {{"metadata": {{"name": "train", "namespace": "lab", "uid": "m",
                    "annotations": {{{}"ai.centaurus.io/trial": "{{}}"}}}}}}]}})",
                              others));
  const Cleaning run(
      {kEmpty, kEmpty, kEmpty, kGroups, kKinds, tried, kDone, kDone, kDone, kDone, kEmpty});
  ASSERT_TRUE(run.result) << run.result.error().message;
  EXPECT_EQ(*run.result, 1u);
  EXPECT_TRUE(run.has_asked("PATCH /apis/kubeflow.org/v1/namespaces/lab/mpijobs/train"));
}

TEST(Clean, a_kind_that_may_not_be_listed_is_told_and_left) {
  const Cleaning run(
      {kEmpty, kEmpty, kEmpty, kGroups, kKinds, answer(403, R"({"message": "no"})"), kEmpty});
  ASSERT_TRUE(run.result) << run.result.error().message;
  EXPECT_EQ(*run.result, 0u);
  ASSERT_EQ(run.told.size(), 1u);
  EXPECT_NE(run.told[0].find("mpijobs.kubeflow.org"), std::string::npos) << run.told[0];
  EXPECT_EQ(run.asked.size(), 7u) << "the next kind is looked at";
}

TEST(Clean, what_could_not_be_cleaned_is_an_error) {
  const Cleaning away({kEmpty, kEmpty, kEmpty, kGroups, kKinds, answer(500, "{}"), kEmpty});
  EXPECT_FALSE(away.result);
  const auto no_right = answer(403, R"({"message": "x cannot patch resource"})");
  const Cleaning refused({kEmpty, kEmpty, kEmpty, kGroups, kKinds, kJobs, no_right, kDone, kEmpty});
  ASSERT_FALSE(refused.result);
  EXPECT_NE(refused.result.error().message.find("cannot patch resource"), std::string::npos);
  EXPECT_TRUE(refused.has_asked("GET /apis/kubeflow.org/v1/tfjobs")) << "after the others";
}

TEST(Clean, is_stopped_also_while_it_waits_for_its_turn) {
  const ApiServer server({answer(200, R"({"metadata": {"resourceVersion": "1"}, "items": [
      {"metadata": {"name": "n1", "uid": "1", "annotations": {"ai.centaurus.io/usage": "{}"}}},
      {"metadata": {"name": "n2", "uid": "2", "annotations": {"ai.centaurus.io/usage": "{}"}}}]})"),
                          answer(400, R"({"message": "no"})")});
  net::Stopper stopper;
  const auto result = clean(
      {.cluster = server.access(), .requests_per_second = 0.001},
      [&](const std::string&) { stopper.stop(); }, stopper);
  EXPECT_FALSE(result);
  EXPECT_EQ(server.asked().size(), 2u);
}

TEST(Clean, without_the_right_to_nodes_it_ends) {
  const Cleaning run({answer(403, R"({"message": "no"})")});
  ASSERT_FALSE(run.result);
  EXPECT_NE(run.result.error().message.find("nodes"), std::string::npos);
}

}  // namespace
}  // namespace assay::cluster
