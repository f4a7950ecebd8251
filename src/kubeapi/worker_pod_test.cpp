// SPDX-License-Identifier: Apache-2.0
#include "testing/api_server.h"

#include <assay/kubeapi/client.h>
#include <gtest/gtest.h>

namespace assay::kubeapi {
namespace {

using testing::answer;
using testing::ApiServer;

const PodName kPod{"edge", "worker-1"};

TEST(WorkerPod, is_created_asked_and_deleted) {
  const ApiServer server({answer(201, "{}"), answer(200, R"({"times": [1]})"), answer(200, "{}")});
  Client client(server.access());
  net::Stopper stopper;
  ASSERT_TRUE(client.create_pod("edge", R"({"kind": "Pod"})", stopper));
  EXPECT_EQ(client.ask_pod(kPod, 7010, "/run", "{}", Milliseconds(5000), stopper).value_or(""),
            R"({"times": [1]})");
  ASSERT_TRUE(client.delete_pod(kPod, "u-1", stopper));
  const auto asked = server.asked();
  ASSERT_EQ(asked.size(), 3U);
  EXPECT_TRUE(asked[0].starts_with("POST /api/v1/namespaces/edge/pods HTTP/1.1\r\n")) << asked[0];
  EXPECT_TRUE(asked[0].ends_with(R"({"kind": "Pod"})")) << asked[0];
  EXPECT_TRUE(asked[1].starts_with(
      "POST /api/v1/namespaces/edge/pods/worker-1:7010/proxy/run HTTP/1.1\r\n"))
      << asked[1];
  EXPECT_TRUE(asked[2].starts_with("DELETE /api/v1/namespaces/edge/pods/worker-1 ")) << asked[2];
  EXPECT_TRUE(asked[2].ends_with(R"({"preconditions": {"uid": "u-1"}})")) << asked[2];
}

TEST(WorkerPod, whose_name_is_taken_is_not_created) {
  const ApiServer server({answer(409, R"({"message": "pods \"w\" already exists"})")});
  Client client(server.access());
  net::Stopper stopper;
  const auto created = client.create_pod("edge", "{}", stopper);
  ASSERT_FALSE(created);
  EXPECT_NE(created.error().message.find("already exists"), std::string::npos);
}

TEST(WorkerPod, that_is_gone_is_told_and_need_not_be_deleted) {
  const ApiServer server({answer(404, "{}"), answer(404, "{}")});
  Client client(server.access());
  net::Stopper stopper;
  const auto state = client.pod_state(kPod, stopper);
  ASSERT_FALSE(state);
  EXPECT_EQ(state.error().kind, ErrorKind::input);
  EXPECT_TRUE(client.delete_pod(kPod, "u", stopper));
}

TEST(WorkerPod, is_listed_by_its_label_page_by_page) {
  const ApiServer server(
      {answer(200, R"({"metadata": {"continue": "c/1"}, "items": [{"metadata": {"name": "w",
           "uid": "u", "creationTimestamp": "2026-01-02T03:04:05Z", "annotations": {"a": "m"}},
           "spec": {"nodeName": "pi-1"}, "status": {"conditions": [{"type": "Ready",
           "status": "True"}]}}, {"metadata": {}}]})"),
       answer(200, R"({"metadata": {}, "items": null})"), answer(200, "[]")});
  Client client(server.access());
  net::Stopper stopper;
  const auto found = client.pod_states("edge", "assay.placement", stopper);
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->size(), 1U);
  EXPECT_EQ(found->front().name, "w");
  EXPECT_EQ(found->front().node, "pi-1");
  EXPECT_EQ(found->front().annotations.at("a"), "m");
  EXPECT_TRUE(found->front().ready);
  ASSERT_TRUE(found->front().created);
  EXPECT_EQ(format_utc(*found->front().created), "2026-01-02T03:04:05.000Z");
  EXPECT_EQ(testing::path_of(server.asked()[1]),
            "/api/v1/namespaces/edge/pods?limit=50&labelSelector=assay.placement&continue=c%2F1");
  EXPECT_FALSE(client.pod_states("edge", "assay.placement", stopper)) << "that is no list";
}

TEST(WorkerPod, that_may_not_be_asked_says_what_to_allow) {
  const ApiServer server({answer(403, "{}")});
  Client client(server.access());
  net::Stopper stopper;
  const auto said = client.ask_pod(kPod, 7010, "/run", "{}", Milliseconds(5000), stopper);
  ASSERT_FALSE(said);
  EXPECT_NE(said.error().message.find("pods/proxy"), std::string::npos) << said.error().message;
}

TEST(WorkerPod, is_deleted_also_when_nothing_else_is_wanted_any_more) {
  const ApiServer server({answer(200, "{}")});
  Client client(server.access());
  client.set_wanted([] { return false; });
  net::Stopper stopper;
  EXPECT_TRUE(client.delete_pod(kPod, "u", stopper));
  EXPECT_FALSE(client.pod_state(kPod, stopper));
}

}  // namespace
}  // namespace assay::kubeapi
