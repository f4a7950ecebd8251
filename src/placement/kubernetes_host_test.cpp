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
