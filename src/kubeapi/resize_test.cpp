// SPDX-License-Identifier: Apache-2.0
#include "resize_patch.h"
#include "testing/api_server.h"

#include <nlohmann/json.hpp>

#include <assay/kubeapi/client.h>
#include <gtest/gtest.h>

namespace assay::kubeapi {
namespace {

using nlohmann::json;
using testing::answer;
using testing::ApiServer;
using testing::path_of;

constexpr const char* kPod = R"({
  "spec": {"containers": [
    {"name": "beside", "resources": {}},
    {"name": "main", "resources": {"limits": {"cpu": "2", "memory": "1Gi"}, "requests": {"cpu": "1"}}}]},
  "status": {"qosClass": "Burstable"}})";

Resize cores(double count, std::string container = "main") {
  return {.name_space = "lab", .pod = "train-1", .container = std::move(container), .cores = count};
}

std::string why_not(const std::string& pod, const Resize& wanted) {
  const auto patch = resize_patch(pod, wanted);
  return patch ? "" : patch.error().message;
}

TEST(ResizePatch, names_only_what_changes) {
  EXPECT_EQ(json::parse(*resize_patch(kPod, cores(1.5))), json::parse(R"({"spec": {"containers": [
                {"name": "main", "resources": {"limits": {"cpu": "1500m"}}}]}})"));
  EXPECT_EQ(json::parse(*resize_patch(kPod, {.container = "main", .memory_bytes = 2'000'000'000})),
            json::parse(R"({"spec": {"containers": [
                {"name": "main", "resources": {"limits": {"memory": "2000000000"}}}]}})"));
}

TEST(ResizePatch, of_a_guaranteed_pod_asks_for_what_it_may_use) {
  json pod = json::parse(kPod);
  pod["status"]["qosClass"] = "Guaranteed";
  EXPECT_EQ(json::parse(*resize_patch(pod.dump(), cores(0.25))),
            json::parse(R"({"spec": {"containers": [{"name": "main", "resources":
                {"limits": {"cpu": "250m"}, "requests": {"cpu": "250m"}}}]}})"));
}

TEST(ResizePatch, is_not_made_where_it_would_harm_or_stay) {
  json restarts = json::parse(kPod);
  restarts["spec"]["containers"][1]["resizePolicy"] = {
      {{"resourceName", "memory"}, {"restartPolicy", "NotRequired"}},
      {{"resourceName", "cpu"}, {"restartPolicy", "RestartContainer"}}};
  EXPECT_NE(why_not(restarts.dump(), cores(1)).find("started anew"), std::string::npos);
  EXPECT_TRUE(resize_patch(restarts.dump(), {.container = "main", .memory_bytes = 5000}));
  EXPECT_NE(why_not(kPod, cores(1, "beside")).find("no limit of cpu"), std::string::npos);
  EXPECT_NE(why_not(kPod, cores(1, "gone")).find("no container"), std::string::npos);
  EXPECT_NE(why_not(kPod, cores(0)).find("taken away"), std::string::npos);
}

TEST(ResizePatch, of_what_is_no_pod_is_none) {
  for (const char* text : {"", "[]", "{\"spec\": 4}", "{\"spec\": {\"containers\": [3, null]}}",
                           "{\"spec\": {\"containers\": {\"name\": \"main\"}}}"})
    EXPECT_NE(why_not(text, cores(1)), "") << text;
}

TEST(Resize, asks_for_the_pod_and_patches_it) {
  const ApiServer server({answer(200, kPod), answer(200, "{}")});
  net::Stopper stopper;
  const auto resized = Client(server.access()).resize(cores(1.5), stopper);
  ASSERT_TRUE(resized) << resized.error().message;
  EXPECT_TRUE(resized->taken);
  const auto asked = server.asked();
  ASSERT_EQ(asked.size(), 2U);
  EXPECT_EQ(path_of(asked[0]), "/api/v1/namespaces/lab/pods/train-1");
  EXPECT_EQ(path_of(asked[1]), "/api/v1/namespaces/lab/pods/train-1/resize");
  EXPECT_EQ(asked[1].rfind("PATCH ", 0), 0U);
  EXPECT_NE(asked[1].find("Content-Type: application/strategic-merge-patch+json\r\n"),
            std::string::npos);
  EXPECT_NE(asked[1].find("\"1500m\""), std::string::npos);
}

TEST(Resize, says_when_the_cluster_cannot) {
  const std::string not_found =
      R"({"message": "the server could not find the requested resource"})";
  const ApiServer server({answer(200, kPod), answer(404, not_found), answer(200, kPod),
                          answer(403, "{}"), answer(200, kPod)});
  Client client(server.access());
  net::Stopper stopper;
  const auto too_old = client.resize(cores(1), stopper);
  ASSERT_TRUE(too_old) << too_old.error().message;
  EXPECT_FALSE(too_old->taken);
  EXPECT_NE(too_old->why_not.find("1.33"), std::string::npos);
  const auto forbidden = client.resize(cores(1), stopper);
  ASSERT_TRUE(forbidden) << forbidden.error().message;
  EXPECT_NE(forbidden->why_not.find("let it patch pods/resize"), std::string::npos);
  const auto without_limit = client.resize(cores(1, "beside"), stopper);
  ASSERT_TRUE(without_limit) << without_limit.error().message;
  EXPECT_FALSE(without_limit->taken);
  EXPECT_EQ(server.asked().size(), 5U) << "nothing was patched";
}

TEST(Resize, that_is_refused_is_an_error_with_the_reason) {
  const ApiServer server({answer(200, kPod),
                          answer(422, R"({"message": "must be less than cpu limit"})"),
                          answer(404, R"({"message": "pods \"train-1\" not found"})")});
  Client client(server.access());
  net::Stopper stopper;
  const auto refused = client.resize(cores(0.5), stopper);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("must be less than cpu limit"), std::string::npos);
  const auto gone = client.resize(cores(0.5), stopper);
  ASSERT_FALSE(gone);
  EXPECT_NE(gone.error().message.find("not found"), std::string::npos);
}

}  // namespace
}  // namespace assay::kubeapi
