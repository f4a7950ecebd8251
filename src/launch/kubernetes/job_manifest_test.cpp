// SPDX-License-Identifier: Apache-2.0
#include "kubernetes/job_manifest.h"

#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

namespace assay::launch {
namespace {

Request example() {
  Request request;
  request.session_id = "20260131-120000-7f3a";
  request.run = 2;
  request.target.image = "waggle/app:1";
  request.target.runtime = "kubernetes";
  request.target.timeout = std::chrono::minutes(1);
  return request;
}

Json manifest(const Request& request, const JobSettings& settings = {}) {
  return job_manifest(request, settings, "node-7", {7, 8, 9, "boot"}, "machine");
}

Json pod(const Request& request, const JobSettings& settings = {}) {
  return manifest(request, settings)["spec"]["template"]["spec"];
}

std::vector<std::string> keys(const std::vector<Obstacle>& obstacles) {
  std::vector<std::string> all;
  for (const auto& obstacle : obstacles) all.push_back(obstacle.key);
  return all;
}

TEST(JobManifest, is_tried_once_and_known_as_ours) {
  const Json json = manifest(example());
  EXPECT_EQ(json["apiVersion"], "batch/v1");
  EXPECT_EQ(json["metadata"]["name"], "assay-20260131-120000-7f3a-2");
  EXPECT_EQ(json["metadata"]["namespace"], "default");
  EXPECT_EQ(json["metadata"]["labels"]["assay.dev/session"], "20260131-120000-7f3a");
  EXPECT_EQ(json["metadata"]["annotations"]["assay.dev/owner"], "7.8.9.boot");
  EXPECT_EQ(json["metadata"]["annotations"]["assay.dev/machine"], "machine");
  EXPECT_EQ(json["spec"]["backoffLimit"], 0);
  const Json& labels = json["spec"]["template"]["metadata"]["labels"];
  EXPECT_EQ(labels["assay.dev/session"], "20260131-120000-7f3a");
  EXPECT_EQ(labels["assay.dev/run"], "2");
  EXPECT_EQ(job_selector("s", 2), "assay.dev/session=s,assay.dev/run=2");
}

TEST(JobManifest, ends_by_itself_when_nobody_ends_it) {
  Request request = example();
  // The timeout, five minutes to start, ten seconds of grace, one minute for the cluster.
  EXPECT_EQ(manifest(request)["spec"]["activeDeadlineSeconds"], 60 + 300 + 10 + 60);
  request.target.timeout = Nanoseconds(0);
  EXPECT_EQ(manifest(request)["spec"]["activeDeadlineSeconds"], 86'400 + 300 + 10 + 60);
  EXPECT_EQ(manifest(request)["spec"]["ttlSecondsAfterFinished"], 600);
}

TEST(JobManifest, runs_the_image_with_its_arguments_on_the_chosen_node) {
  Request request = example();
  request.target.command = {"--fast"};
  request.target.env = {{"LEVEL", "3"}};
  request.target.workdir = "/app";
  JobSettings settings;
  settings.node_selector = {{"model", "orin"}};
  const Json spec = pod(request, settings);
  EXPECT_EQ(spec["restartPolicy"], "Never");
  EXPECT_EQ(spec["terminationGracePeriodSeconds"], 10);
  EXPECT_EQ(spec["automountServiceAccountToken"], false);
  EXPECT_EQ(spec["nodeSelector"], Json({{"model", "orin"}}));
  EXPECT_NE(spec["affinity"].dump().find(
                R"("matchFields":[{"key":"metadata.name","operator":"In","values":["node-7"]}])"),
            std::string::npos);
  const Json& app = spec["containers"][0];
  EXPECT_EQ(app["image"], "waggle/app:1");
  EXPECT_EQ(app["args"], Json({"--fast"}));
  EXPECT_FALSE(app.contains("command"));
  EXPECT_EQ(app["workingDir"], "/app");
  EXPECT_EQ(app["env"][1], Json({{"name", "LEVEL"}, {"value", "3"}}));
  EXPECT_FALSE(app.contains("resources"));
}

TEST(JobManifest, reports_to_the_nodes_agent) {
  const Json spec = pod(example());
  EXPECT_EQ(spec["volumes"][0]["hostPath"]["path"], "/run/assay");
  EXPECT_EQ(spec["containers"][0]["volumeMounts"][0]["mountPath"], "/metrics");
  EXPECT_EQ(spec["containers"][0]["env"][0]["value"], "/metrics/live_metrics.sock");
  JobSettings settings;
  settings.hooks_folder = "";
  EXPECT_FALSE(pod(example(), settings).contains("volumes"));
  EXPECT_FALSE(pod(example(), settings)["containers"][0].contains("env"));
}

TEST(JobManifest, sets_aside_what_the_app_may_use) {
  Request request = example();
  request.target.limits.cpus = 1.5;
  request.target.limits.memory_bytes = 512U << 20U;
  request.target.limits.gpus = "2";
  const Json spec = pod(request);
  const Json& resources = spec["containers"][0]["resources"];
  EXPECT_EQ(resources["limits"],
            Json({{"cpu", "1500m"}, {"memory", "536870912"}, {"nvidia.com/gpu", "2"}}));
  EXPECT_EQ(resources["requests"], resources["limits"]);
  EXPECT_EQ(spec["tolerations"][2]["key"], "nvidia.com/gpu");
}

TEST(JobManifest, gives_a_node_up_that_is_away) {
  const Json tolerations = pod(example())["tolerations"];
  ASSERT_EQ(tolerations.size(), 2);
  for (const auto& one : tolerations) EXPECT_EQ(one["tolerationSeconds"], 30);
  EXPECT_EQ(tolerations[1]["key"], "node.kubernetes.io/unreachable");
}

TEST(JobManifest, leaves_dollars_to_the_app) {
  Request request = example();
  request.target.command = {"sh", "-c", "echo $$ $(PASSWORD) $HOME"};
  request.target.env = {{"PASSWORD", "pa$$word$"}};
  const Json spec = pod(request);
  const Json& app = spec["containers"][0];
  EXPECT_EQ(app["args"], Json({"sh", "-c", "echo $$$$ $$(PASSWORD) $$HOME"}));
  EXPECT_EQ(app["env"][1], Json({{"name", "PASSWORD"}, {"value", "pa$$$$word$$"}}));
}

TEST(JobObstacles, tell_what_a_job_cannot_have) {
  Target target = example().target;
  EXPECT_TRUE(job_obstacles(target, {}).empty());
  target.docker_args = {"-v", "/x:/x"};
  target.needs.emplace_back();
  target.dataset = "/data";
  target.limits.gpus = "all";
  target.limits.network.loss_ratio = 0.1;
  EXPECT_EQ(
      keys(job_obstacles(target, {})),
      (std::vector<std::string>{"docker_args", "needs", "dataset", "resources", "resources"}));
  target = {};
  EXPECT_EQ(keys(job_obstacles(target, {})), (std::vector<std::string>{"runtime"}));
  target = example().target;
  target.command = {"caf\xc3\xa9"};
  EXPECT_TRUE(job_obstacles(target, {}).empty());
  target.env = {{"NAME", "caf\xe9"}};
  EXPECT_EQ(keys(job_obstacles(target, {})), (std::vector<std::string>{"runtime"}));
}

}  // namespace
}  // namespace assay::launch
