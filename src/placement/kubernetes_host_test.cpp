// SPDX-License-Identifier: Apache-2.0
#include "model_server.h"
#include "testing/api_server.h"  // of kubeapi

#include <cstdlib>
#include <nlohmann/json.hpp>

#include <assay/base/files.h>
#include <assay/net/http_client.h>
#include <assay/placement/kubernetes_host.h>
#include <gtest/gtest.h>

namespace assay::placement {
namespace {

using kubeapi::testing::answer;
using kubeapi::testing::ApiServer;
using nlohmann::json;

constexpr const char* kFile = ASSAY_SOURCE_DIR "/LICENSE";
constexpr const char* kStarting = R"({"metadata": {"uid": "u"}, "status": {"phase": "Pending"}})";
constexpr const char* kReady =
    R"({"metadata": {"uid": "u", "labels": {"assay.placement": "worker"}},
    "status": {"conditions": [{"type": "Ready", "status": "True"}]}})";
constexpr const char* kStranger = R"({"metadata": {"uid": "u", "labels": {"app": "x"}}})";

WorkerPlan plan() {
  WorkerPlan one;
  one.name = "assay-m-1";
  one.model = "m";
  one.file = kFile;
  one.image = "test/worker:1";
  one.node = "pi-1";
  one.env = {{"ASSAY_PORT", "7010"}};
  one.memory_bytes = 1e8;
  return one;
}

KubernetesPlace place_of(const ApiServer& server) {
  return {.access = server.access(), .name_space = "edge", .advertise = "127.0.0.1"};
}

json body_of(const std::string& request) {
  return json::parse(request.substr(request.find("\r\n\r\n") + 4));
}

/// Status and body of what a key opens.
net::Response fetched(const std::string& url, const std::string& key) {
  const size_t slash = url.rfind('/');
  net::HttpClient client({.base = url.substr(0, slash)});
  net::Request request;
  request.path = url.substr(slash);
  request.headers.push_back("Authorization: Bearer " + key);
  auto response = client.send(request);
  return response ? std::move(*response) : net::Response();
}

TEST(KubernetesHost, starts_a_pod_on_the_node_and_gives_it_the_model_until_it_serves) {
  const ApiServer server({answer(201, "{}"), answer(200, kStarting), answer(200, kReady),
                          answer(200, R"({"times": [1]})"), answer(200, "{}")});
  const auto host = kubernetes_host(place_of(server), {});
  const auto started = host->start(plan());
  ASSERT_TRUE(started) << started.error().message;
  const json pod = body_of(server.asked()[0]);
  EXPECT_EQ(pod["spec"]["nodeSelector"]["kubernetes.io/hostname"], "pi-1");
  EXPECT_EQ(pod["metadata"]["name"], "assay-m-1");
  const json& resources = pod["spec"]["containers"][0]["resources"];
  EXPECT_EQ(resources["requests"]["memory"], "100000000");
  EXPECT_EQ(resources["limits"]["memory"], "912000000");
  std::map<std::string, std::string> env;
  for (const auto& one : pod["spec"]["containers"][0]["env"]) env[one["name"]] = one["value"];
  EXPECT_EQ(env["ASSAY_PORT"], "7010");
  EXPECT_EQ(fetched(env["ASSAY_MODEL_URL"], env["ASSAY_MODEL_KEY"]).body, read_file(kFile).value());
  EXPECT_EQ(host->serves().value_or(true), false);
  EXPECT_EQ(host->serves().value_or(false), true);
  EXPECT_EQ(fetched(env["ASSAY_MODEL_URL"], env["ASSAY_MODEL_KEY"]).status, 0) << "it is over";
  EXPECT_EQ(host->run("{}", Milliseconds(5000)).value_or(""), R"({"times": [1]})");
  EXPECT_TRUE(host->end());
  EXPECT_NE(server.asked()[4].find(R"("uid": "u")"), std::string::npos);
}

TEST(KubernetesHost, tells_why_a_pod_never_serves) {
  const ApiServer server({answer(201, "{}"),
                          answer(200, R"({"metadata": {"uid": "u"}, "status": {"containerStatuses":
           [{"state": {"terminated": {"exitCode": 4, "reason": "Error"}}}]}})"),
                          answer(200, "loading\nno such operator\n")});
  const auto host = kubernetes_host(place_of(server), {});
  ASSERT_TRUE(host->start(plan()));
  const auto serves = host->serves();
  ASSERT_FALSE(serves);
  EXPECT_EQ(serves.error().message, "it ended with 4 (Error): loading no such operator");
}

/// A cluster that makes pods and does not say so.
class SilentCluster {
 public:
  explicit SilentCluster(std::string others_mark = "") : others_mark_(std::move(others_mark)) {
    http_ = net::testing::HttpServer::on_loopback([this](net::testing::Connection& connection) {
      for (auto request = connection.read_request(); !request.empty() && heard(request);
           request = connection.read_request())
        connection.write(answer(200, pod()));
    });
  }
  KubernetesPlace place() const {
    return {.access = {.endpoint = {.base = http_->base()}},
            .name_space = "edge",
            .advertise = "127.0.0.1"};
  }
  std::string deleted() const {
    const Lock lock(mutex_);
    return deleted_;
  }

 private:
  /// False: it is not answered.
  bool heard(const std::string& request) {
    const Lock lock(mutex_);
    if (request.starts_with("POST ")) {
      labels_ = body_of(request)["metadata"]["labels"];
      if (!others_mark_.empty()) labels_["assay.placement.start"] = others_mark_;
      return false;
    }
    if (request.starts_with("DELETE ")) deleted_ = body_of(request)["preconditions"]["uid"];
    return true;
  }
  std::string pod() const {
    const Lock lock(mutex_);
    return json{{"metadata", {{"uid", "u-7"}, {"labels", labels_}}}}.dump();
  }

  const std::string others_mark_;
  mutable Mutex mutex_;
  json labels_ ASSAY_GUARDED_BY(mutex_);
  std::string deleted_ ASSAY_GUARDED_BY(mutex_);
  std::unique_ptr<net::testing::HttpServer> http_;
};

TEST(KubernetesHost, a_pod_whose_creation_was_not_answered_is_deleted_again) {
  const SilentCluster cluster;
  EXPECT_FALSE(kubernetes_host(cluster.place(), {})->start(plan()));
  EXPECT_EQ(cluster.deleted(), "u-7");
  const SilentCluster with_anothers_pod("of another start");
  EXPECT_FALSE(kubernetes_host(with_anothers_pod.place(), {})->start(plan()));
  EXPECT_EQ(with_anothers_pod.deleted(), "");
}

TEST(KubernetesHost, needs_an_address_for_the_pods) {
  const ApiServer server({});
  KubernetesPlace place = place_of(server);
  place.advertise.clear();
  EXPECT_FALSE(kubernetes_host(place, {})->start(plan()));
  EXPECT_TRUE(server.asked().empty());
}

TEST(EndKubernetesWorker, ends_only_what_was_placed) {
  const ApiServer ours({answer(200, kReady), answer(200, "{}")});
  EXPECT_TRUE(end_kubernetes_worker(place_of(ours), "w"));
  EXPECT_EQ(ours.asked().size(), 2U);
  const ApiServer others({answer(200, kStranger), answer(200, "{}")});
  EXPECT_FALSE(end_kubernetes_worker(place_of(others), "w"));
  EXPECT_EQ(others.asked().size(), 1U) << "it was not deleted";
}

TEST(KubernetesWorkers, are_told_with_their_nodes) {
  const ApiServer server({answer(200, R"({"metadata": {}, "items": [
      {"metadata": {"name": "a", "uid": "1", "creationTimestamp": "2026-01-02T03:04:05Z",
                    "annotations": {"assay.placement": "m", "assay.placement.node": "pi-9"}},
       "spec": {"nodeName": "pi-1"},
       "status": {"conditions": [{"type": "Ready", "status": "True"}]}},
      {"metadata": {"name": "b", "uid": "2", "annotations": {"assay.placement.node": "pi-2"}}},
      {"metadata": {"name": "c", "uid": "3"}, "status": {"phase": "Failed"}}]})")});
  const auto found = kubernetes_workers(place_of(server), {});
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->size(), 3U);
  EXPECT_EQ((*found)[0].model, "m");
  EXPECT_EQ((*found)[0].node, "pi-1") << "where it is";
  EXPECT_EQ((*found)[0].state, Worker::State::running);
  EXPECT_EQ((*found)[0].since, parse_utc("2026-01-02T03:04:05Z"));
  EXPECT_EQ((*found)[1].node, "pi-2") << "where it waits to go";
  EXPECT_EQ((*found)[1].state, Worker::State::starting);
  EXPECT_EQ((*found)[2].state, Worker::State::ended);
}

TEST(ModelServer, wants_its_key) {
  const auto server = ModelServer::start(kFile, "127.0.0.1:0");
  ASSERT_TRUE(server) << server.error().message;
  EXPECT_EQ(fetched((*server)->url(), "wrong").status, 401);
  EXPECT_EQ(fetched((*server)->url(), (*server)->key()).status, 200);
  EXPECT_EQ((*server)->key().size(), 64U);
  EXPECT_FALSE(ModelServer::start(kFile, "not-an-address"));
}

}  // namespace
}  // namespace assay::placement
