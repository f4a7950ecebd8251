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
    {"name": "main", "resources": {"limits": {"cpu": "2", "memory": "1Gi"}, "requests": {"cpu": "500m"}}}]},
  "status": {"qosClass": "Burstable", "containerStatuses": [{"containerID": "containerd://ab12"}]}})";

Resize cores(double count, std::string container = "main") {
  return {.name_space = "lab", .pod = "train-1", .container = std::move(container), .cores = count};
}

std::string why_not(const std::string& pod, const Resize& wanted) {
  const auto patch = resize_patch(pod, wanted);
  return patch ? "" : patch.error().message;
}

TEST(ResizePatch, names_only_what_changes) {
  EXPECT_EQ(json::parse(resize_patch(kPod, cores(1.5))->change),
            json::parse(R"({"spec": {"containers": [
                {"name": "main", "resources": {"limits": {"cpu": "1500m"}}}]}})"));
  EXPECT_EQ(
      json::parse(resize_patch(kPod, {.container = "main", .memory_bytes = 2'000'000'000})->change),
      json::parse(R"({"spec": {"containers": [
                {"name": "main", "resources": {"limits": {"memory": "2000000000"}}}]}})"));
}

TEST(ResizePatch, can_be_taken_back_to_what_the_spec_said) {
  EXPECT_EQ(json::parse(resize_patch(kPod, cores(1.5))->undo),
            json::parse(R"({"spec": {"containers": [
                {"name": "main", "resources": {"limits": {"cpu": "2"}}}]}})"));
}

TEST(ResizePatch, quantities_are_read_as_clusters_write_them) {
  EXPECT_EQ(parse_quantity("500m"), 0.5);
  EXPECT_EQ(parse_quantity("1.5"), 1.5);
  EXPECT_EQ(parse_quantity("2Gi"), 0x1p31);
  EXPECT_EQ(parse_quantity("3M"), 3e6);
  for (const char* text : {"", "x", "Gi", "1 m"}) EXPECT_FALSE(parse_quantity(text)) << text;
}

TEST(ResizePatch, of_a_guaranteed_pod_asks_for_what_it_may_use) {
  json pod = json::parse(kPod);
  pod["status"]["qosClass"] = "Guaranteed";
  EXPECT_EQ(json::parse(resize_patch(pod.dump(), cores(0.25))->change),
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
  EXPECT_NE(why_not(kPod, cores(1, "gone")).find("no such container"), std::string::npos);
  EXPECT_NE(why_not(kPod, cores(0)).find("taken away"), std::string::npos);
  EXPECT_NE(why_not(kPod, cores(0.4)).find("requests more"), std::string::npos);
  EXPECT_TRUE(resize_patch(kPod, cores(0.5)));
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

TEST(Resize, is_taken_back_by_what_it_gave) {
  const ApiServer server(
      {answer(200, kPod), answer(200, "{}"), answer(200, "{}"), answer(409, "{}")});
  Client client(server.access());
  net::Stopper stopper;
  const auto resized = client.resize(cores(1.5), stopper);
  ASSERT_TRUE(resized) << resized.error().message;
  EXPECT_TRUE(client.resize_back(cores(1.5), resized->undo, stopper));
  EXPECT_NE(server.asked().at(2).find("\"cpu\":\"2\""), std::string::npos);
  EXPECT_FALSE(client.resize_back(cores(1.5), resized->undo, stopper));
}

TEST(Resize, leaves_another_pod_of_the_same_name_alone) {
  const ApiServer server({answer(200, kPod), answer(200, kPod), answer(200, "{}")});
  Client client(server.access());
  net::Stopper stopper;
  Resize wanted = cores(1.5);
  wanted.container_id = "cd34";
  const auto other = client.resize(wanted, stopper);
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().message.find("another one"), std::string::npos);
  wanted.container_id = "ab12";
  EXPECT_TRUE(client.resize(wanted, stopper)->taken);
}

TEST(Resize, says_when_the_cluster_cannot) {
  const std::string too_old = R"({"message": "the server could not find the requested resource"})";
  const std::string no_role = R"({"message": "pods \"train-1\" is forbidden: User \"x\" cannot )"
                              R"(patch resource \"pods/resize\" in API group \"\""})";
  const ApiServer server({answer(200, kPod), answer(404, too_old), answer(200, kPod),
                          answer(403, no_role), answer(200, kPod)});
  Client client(server.access());
  net::Stopper stopper;
  const auto old = client.resize(cores(1), stopper);
  ASSERT_TRUE(old) << old.error().message;
  EXPECT_FALSE(old->taken);
  EXPECT_NE(old->why_not.find("1.33"), std::string::npos);
  const auto forbidden = client.resize(cores(1), stopper);
  ASSERT_TRUE(forbidden) << forbidden.error().message;
  EXPECT_NE(forbidden->why_not.find("let it patch pods/resize"), std::string::npos);
  const auto without_limit = client.resize(cores(1, "beside"), stopper);
  ASSERT_TRUE(without_limit) << without_limit.error().message;
  EXPECT_FALSE(without_limit->taken);
  EXPECT_EQ(server.asked().size(), 5U) << "nothing was patched";
}

TEST(Resize, that_is_refused_is_an_error_with_the_reason) {
  const std::vector<std::pair<int, std::string>> refusals = {
      {422, "must be less than cpu limit"}, {403, "exceeded quota: lab"}, {404, "pods not found"}};
  for (const auto& [status, reason] : refusals) {
    const ApiServer server(
        {answer(200, kPod), answer(status, fmt::format(R"({{"message": "{}"}})", reason))});
    net::Stopper stopper;
    const auto refused = Client(server.access()).resize(cores(0.5), stopper);
    ASSERT_FALSE(refused) << reason;
    EXPECT_NE(refused.error().message.find(reason), std::string::npos) << refused.error().message;
  }
}

}  // namespace
}  // namespace assay::kubeapi
