// SPDX-License-Identifier: Apache-2.0
#include "discovery_json.h"
#include "testing/api_server.h"

#include <assay/kubeapi/discovery.h>
#include <gtest/gtest.h>

namespace assay::kubeapi {
namespace {

using testing::answer;
using testing::ApiServer;
using testing::path_of;

const std::string kCore = answer(200, R"({"kind": "APIResourceList", "groupVersion": "v1",
    "resources": [{"name": "pods", "kind": "Pod", "namespaced": true},
    {"name": "pods/log", "kind": "Pod", "namespaced": true}, {"name": "x"}, 5,
    {"name": "nodes", "kind": "Node", "namespaced": false}]})");
const std::string kBefore = answer(200, R"({"groupVersion": "kubeflow.org/v1", "resources": [
    {"name": "pytorchjobs", "kind": "PyTorchJob", "namespaced": true}]})");
const std::string kAfter = answer(200, R"({"groupVersion": "kubeflow.org/v1", "resources": [
    {"name": "pytorchjobs", "kind": "PyTorchJob", "namespaced": true},
    {"name": "mpijobs", "kind": "MPIJob", "namespaced": true}]})");
const std::string kGroup = answer(200, R"({"kind": "APIGroup", "name": "kubeflow.org",
    "preferredVersion": {"groupVersion": "kubeflow.org/v1", "version": "v1"}})");
const std::string kNone = answer(404, "404 page not found");

const KindName kMpi{.group = "kubeflow.org", .version = "v1", .kind = "MPIJob"};

class DiscoveryTest : public ::testing::Test {
 protected:
  void serve(std::vector<std::string> answers) {
    server_ = std::make_unique<ApiServer>(std::move(answers));
    client_ = std::make_unique<Client>(server_->access());
    discovery_ = std::make_unique<Discovery>(*client_, clock_);
  }
  /// "mpijobs.kubeflow.org v1", "none", or what is wrong.
  std::string find(const KindName& kind) {
    const auto found = discovery_->find(kind, stopper_);
    if (!found) return found.error().message;
    return *found ? (*found)->name() + " " + (*found)->version : "none";
  }

  ManualClock clock_{from_unix_ns(1'000'000'000)};
  net::Stopper stopper_;
  std::unique_ptr<ApiServer> server_;
  std::unique_ptr<Client> client_;
  std::unique_ptr<Discovery> discovery_;
};

TEST_F(DiscoveryTest, finds_what_an_owner_names) {
  serve({kCore, kAfter});
  EXPECT_EQ(find(kind_of({.kind = "Pod", .api_version = "v1"})), "pods v1");
  EXPECT_EQ(find(kind_of({.kind = "MPIJob", .api_version = "kubeflow.org/v1"})),
            "mpijobs.kubeflow.org v1");
  const auto node = discovery_->find({.version = "v1", .kind = "Node"}, stopper_);
  ASSERT_TRUE(node && *node);
  EXPECT_EQ(**node, nodes());
  EXPECT_EQ(server_->asked().size(), 2U) << "what is known is not asked again";
  EXPECT_EQ(path_of(server_->asked()[0]), "/api/v1");
  EXPECT_EQ(path_of(server_->asked()[1]), "/apis/kubeflow.org/v1");
}

TEST_F(DiscoveryTest, what_is_not_installed_is_looked_for_again_after_a_while) {
  serve({kNone, kNone, kAfter});
  EXPECT_EQ(find(kMpi), "none");
  EXPECT_EQ(find(kMpi), "none");
  EXPECT_EQ(server_->asked().size(), 2U);
  clock_.advance(std::chrono::seconds(61));
  EXPECT_EQ(find(kMpi), "mpijobs.kubeflow.org v1");
}

TEST_F(DiscoveryTest, a_kind_can_come_to_a_group_that_is_known) {
  serve({kBefore, kGroup, kAfter});
  EXPECT_EQ(find(kMpi), "none");
  clock_.advance(std::chrono::seconds(61));
  EXPECT_EQ(find(kMpi), "mpijobs.kubeflow.org v1");
}

TEST_F(DiscoveryTest, what_is_known_is_asked_again_some_time) {
  serve({kAfter, kNone, kNone});
  EXPECT_NE(find(kMpi), "none");
  clock_.advance(std::chrono::seconds(599));
  EXPECT_NE(find(kMpi), "none");
  clock_.advance(std::chrono::seconds(2));
  EXPECT_EQ(find(kMpi), "none");
}

TEST_F(DiscoveryTest, takes_the_preferred_version_for_one_that_is_no_longer_served) {
  serve({kNone, kGroup, kAfter});
  EXPECT_EQ(find({.group = "kubeflow.org", .version = "v1alpha2", .kind = "MPIJob"}),
            "mpijobs.kubeflow.org v1");
  EXPECT_EQ(find({.group = "kubeflow.org", .kind = "PyTorchJob"}), "pytorchjobs.kubeflow.org v1")
      << "also when none is named";
  EXPECT_EQ(server_->asked().size(), 3U);
}

TEST_F(DiscoveryTest, goes_from_an_object_to_the_one_that_controls_it) {
  serve({kAfter, kCore, kNone, kNone});
  const Owner mpi{.kind = "MPIJob",
                  .name = "m",
                  .uid = "u",
                  .api_version = "kubeflow.org/v1",
                  .controller = true};
  const Owner node{.kind = "Node", .name = "n", .uid = "v", .api_version = "v1"};
  const Owner gone{.kind = "X", .name = "x", .uid = "w", .api_version = "no.such/v1"};
  const auto up = discovery_->controller({node, mpi}, "lab", stopper_);
  ASSERT_TRUE(up && *up);
  EXPECT_EQ((*up)->resource.plural, "mpijobs");
  EXPECT_EQ((*up)->name_space, "lab");
  EXPECT_EQ((*up)->uid, "u");
  const auto only = discovery_->controller({node}, "lab", stopper_);
  ASSERT_TRUE(only && *only);
  EXPECT_EQ(**only, (ObjectName{.resource = nodes(), .name = "n", .uid = "v"}));
  EXPECT_FALSE(*discovery_->controller({}, "lab", stopper_));
  EXPECT_EQ((**discovery_->controller({node, gone}, "lab", stopper_)).uid, "v") << "the first";
  EXPECT_FALSE(*discovery_->controller({gone}, "lab", stopper_));
}

TEST_F(DiscoveryTest, nonsense_is_not_asked_for) {
  serve({});
  EXPECT_EQ(find({.group = "..", .version = "v1", .kind = "X"}), "none");
  EXPECT_EQ(find({.group = "a/b", .version = "v1", .kind = "X"}), "none");
  EXPECT_EQ(find({.version = "../pods", .kind = "X"}), "none");
  EXPECT_TRUE(server_->asked().empty());
}

TEST_F(DiscoveryTest, trouble_is_no_answer) {
  serve({answer(500, ""), answer(200, "<html>"), kCore});
  const KindName pod{.version = "v1", .kind = "Pod"};
  EXPECT_NE(find(pod).find("answers 500"), std::string::npos);
  EXPECT_EQ(find(pod), "the API server's answer is no list of resources");
  EXPECT_EQ(find(pod), "pods v1");
}

TEST_F(DiscoveryTest, many_groups_that_nobody_has_are_not_remembered_for_ever) {
  serve(std::vector<std::string>(1000, kNone));
  for (int i = 0; i < 400; ++i)
    EXPECT_EQ(find({.group = fmt::format("g{}.x", i), .version = "v1", .kind = "X"}), "none");
  EXPECT_EQ(server_->asked().size(), 800U);
}

const std::string kGroups = answer(200, R"({"kind": "APIGroupList", "groups": [
    {"name": "apps", "preferredVersion": {"version": "v1"}, "versions": [{"version": "v1"}]},
    {"name": "kubeflow.org", "preferredVersion": {"version": "v2beta1"},
     "versions": [{"version": "v1"}, {"version": "v2beta1"}, {"version": "../x"}]},
    {"name": "away.io", "preferredVersion": {"version": "v1"}, "versions": [{"version": "v1"}]},
    {"name": "../y", "preferredVersion": {"version": "v1"}}, 7]})");

TEST_F(DiscoveryTest, finds_all_that_can_be_listed_and_patched) {
  const std::string newer = answer(200, R"({"groupVersion": "kubeflow.org/v2beta1", "resources": [
      {"name": "mpijobs", "kind": "MPIJob", "namespaced": true, "verbs": ["list", "patch"]},
      {"name": "mpijobs/status", "kind": "MPIJob", "verbs": ["get", "patch", "list"]}]})");
  const std::string older = answer(200, R"({"groupVersion": "kubeflow.org/v1", "resources": [
      {"name": "mpijobs", "kind": "MPIJob", "namespaced": true, "verbs": ["list", "patch"]},
      {"name": "reviews", "kind": "Review", "namespaced": true, "verbs": ["create"]},
      {"name": "silent", "kind": "Silent", "namespaced": true},
      {"name": "tfjobs", "kind": "TFJob", "namespaced": true,
       "verbs": ["get", "list", "patch", "watch"]}]})");
  serve({kGroups, newer, older, answer(503, "")});
  const auto found = find_resources(
      *client_, [](const std::string& group) { return group != "apps"; }, {"list", "patch"},
      stopper_);
  ASSERT_TRUE(found) << found.error().message;
  std::string all;
  for (const auto& one : found->resources) all += one.name() + " " + one.version + " ";
  EXPECT_EQ(all, "mpijobs.kubeflow.org v2beta1 tfjobs.kubeflow.org v1 ");
  ASSERT_EQ(found->unanswered.size(), 1U) << "of a server that is away";
  EXPECT_NE(found->unanswered[0].find("503"), std::string::npos);
  ASSERT_EQ(server_->asked().size(), 4U);
  EXPECT_EQ(path_of(server_->asked()[1]), "/apis/kubeflow.org/v2beta1");
}

TEST_F(DiscoveryTest, without_a_list_of_groups_nothing_is_found) {
  serve({answer(403, ""), answer(200, "{}")});
  const auto any = [](const std::string&) { return true; };
  EXPECT_FALSE(find_resources(*client_, any, {}, stopper_));
  EXPECT_FALSE(find_resources(*client_, any, {}, stopper_));
}

TEST(DiscoveryJson, garbage_is_an_error) {
  for (const char* text :
       {"", "[]", "{}", R"({"groupVersion": "v1", "resources": 3})", R"({"resources": []})",
        R"({"preferredVersion": {"version": "../x"}})"}) {
    EXPECT_FALSE(read_resources(text)) << text;
    EXPECT_FALSE(read_preferred(text)) << text;
    EXPECT_FALSE(read_groups(text)) << text;
  }
}

}  // namespace
}  // namespace assay::kubeapi
