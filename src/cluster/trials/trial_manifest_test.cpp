// SPDX-License-Identifier: Apache-2.0
#include "manifest_json.h"

#include <assay/cluster/trial_manifest.h>
#include <gtest/gtest.h>

namespace assay::cluster {
namespace {

using Json = nlohmann::json;

Json copy_of(const std::string& text, const Choice& choice, CopySettings settings = {}) {
  const auto source = read_trial_source(text, "job.yaml");
  EXPECT_TRUE(source) << source.error().message;
  if (!source) return {};
  if (settings.trial.empty()) settings.trial = "mine";
  settings.name_space = "lab";
  settings.deadline = std::chrono::seconds(200);
  const auto copy = make_trial_copy(*source, choice, settings, 0xabcdef);
  EXPECT_TRUE(copy) << copy.error().message;
  return copy ? Json::parse(copy->manifest) : Json();
}

constexpr const char* kJob = R"(
apiVersion: batch/v1
kind: Job
metadata:
  name: train
  namespace: lab
  uid: 1-2
  resourceVersion: "77"
  creationTimestamp: 2026-01-01T00:00:00Z
  managedFields: [{manager: x}]
  labels: {app: train, kueue.x-k8s.io/queue-name: q}
  annotations: {kubectl.kubernetes.io/last-applied-configuration: "{}", sidecar.istio.io/inject: "false"}
spec:
  backoffLimit: 6
  selector: {matchLabels: {controller-uid: 1-2}}
  template:
    metadata: {labels: {controller-uid: 1-2, job-name: train, app: train}}
    spec:
      restartPolicy: OnFailure
      nodeName: n1
      priorityClassName: high
      priority: 1000
      nodeSelector: {disk: ssd}
      volumes: [{name: v, configMap: {name: c, defaultMode: 0644}}]
      containers:
      - {name: sidecar, image: "proxy:1"}
      - name: main
        image: train:1
        env: [{name: A, value: "1"}]
        resources: {limits: {nvidia.com/gpu: 4, memory: 8Gi}}
status: {active: 1}
)";

TEST(TrialManifest, TrialsAtOnceAreKeptApart) {
  const Json copy = copy_of(kJob, {"Tesla-T4", 2}, {.shares_nodes = false});
  const Json rules = copy["spec"]["template"]["spec"]["affinity"]["podAntiAffinity"]
                         ["requiredDuringSchedulingIgnoredDuringExecution"];
  EXPECT_EQ(rules, Json::parse(R"([{"topologyKey": "kubernetes.io/hostname", "labelSelector":
      {"matchExpressions": [{"key": "assay.trial", "operator": "Exists"},
        {"key": "assay.trial.copy", "operator": "NotIn", "values": ["train-trial-abcdef"]}]}}])"));
  EXPECT_FALSE(copy_of(kJob, {"Tesla-T4", 2})["spec"]["template"]["spec"].contains("affinity"));
}

TEST(TrialManifest, AJobBecomesAShortCopyElsewhere) {
  const Json copy = copy_of(kJob, {"Tesla-T4", 2});
  EXPECT_EQ(copy["metadata"], Json::parse(R"({"name": "train-trial-abcdef", "namespace": "lab",
                "labels": {"assay.trial": "mine", "assay.trial.copy": "train-trial-abcdef", "kueue.x-k8s.io/queue-name": "q"},
                "annotations": {"sidecar.istio.io/inject": "false"}})"));
  EXPECT_FALSE(copy.contains("status"));
  const Json& spec = copy["spec"];
  EXPECT_EQ(spec["backoffLimit"], 0);
  EXPECT_EQ(spec["activeDeadlineSeconds"], 200);
  EXPECT_EQ(spec["ttlSecondsAfterFinished"], 60);
  EXPECT_FALSE(spec.contains("selector"));
  EXPECT_EQ(spec["template"]["metadata"]["labels"],
            Json({{"assay.trial", "mine"}, {"assay.trial.copy", "train-trial-abcdef"}}));
  const Json& pod = spec["template"]["spec"];
  EXPECT_EQ(pod["restartPolicy"], "Never");
  EXPECT_EQ(pod["activeDeadlineSeconds"], 200);
  EXPECT_EQ(pod["nodeSelector"],
            Json::parse(R"({"disk": "ssd", "nvidia.com/gpu.product": "Tesla-T4"})"));
  for (const char* gone : {"nodeName", "priority", "priorityClassName"})
    EXPECT_FALSE(pod.contains(gone)) << gone;
  EXPECT_EQ(pod["volumes"][0]["configMap"]["defaultMode"], 420);
  EXPECT_FALSE(pod["containers"][0].contains("resources"));
  EXPECT_EQ(pod["containers"][1]["resources"],
            Json::parse(R"({"limits": {"nvidia.com/gpu": "2", "memory": "8Gi"},
                            "requests": {"nvidia.com/gpu": "2"}})"));
  EXPECT_EQ(pod["containers"][1]["env"],
            Json::parse(R"([{"name": "A", "value": "1"}, {"name": "ASSAY_TRIAL_GPUS", "value": "2"},
                            {"name": "ASSAY_TRIAL_WORKERS", "value": "1"}])"));
}

TEST(TrialManifest, NodesKeepTheLastWordsOfItsContainers) {
  const Json pod = copy_of(R"(
apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  initContainers: [{name: fetch, image: i}]
  containers: [{name: main, image: i}, {name: other, image: i, terminationMessagePolicy: File}]
)",
                           {"", 1})["spec"];
  const auto policy_of = [](const Json& container) {
    return container["terminationMessagePolicy"];
  };
  EXPECT_EQ(policy_of(pod["initContainers"][0]), "FallbackToLogsOnError");
  EXPECT_EQ(policy_of(pod["containers"][0]), "FallbackToLogsOnError");
  EXPECT_EQ(policy_of(pod["containers"][1]), "File") << "what the job says stays";
}

TEST(TrialManifest, AnOriginalThatIsThereOwnsIt) {
  CopySettings settings{
      .priority_class = "low",
      .original = {
          .resource = kubeapi::jobs(), .name_space = "lab", .name = "train", .uid = "1-2"}};
  const Json copy = copy_of(kJob, {"", 1}, settings);
  EXPECT_EQ(copy["metadata"]["ownerReferences"],
            Json::parse(R"([{"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": "1-2",
                             "controller": false}])"));
  const Json& pod = copy["spec"]["template"]["spec"];
  EXPECT_EQ(pod["priorityClassName"], "low");
  EXPECT_EQ(pod["nodeSelector"], Json({{"disk", "ssd"}}));
  settings.original.name_space = "other";
  EXPECT_FALSE(copy_of(kJob, {"", 1}, settings)["metadata"].contains("ownerReferences"));
}

TEST(TrialManifest, APodCountsWhateverItIsTold) {
  const std::string pod = R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"generateName": "x-"},
      "spec": {"containers": [{"name": "a", "image": "i"}], "nodeName": "n"}})";
  const Json copy = copy_of(pod, {"", 0.5}, {.resource = "cpu"});
  EXPECT_EQ(copy["metadata"]["name"], "x-trial-abcdef");
  EXPECT_EQ(copy["spec"]["containers"][0]["resources"]["limits"], Json({{"cpu", "500m"}}));
  EXPECT_EQ(copy["spec"]["activeDeadlineSeconds"], 200);
  EXPECT_FALSE(copy["spec"].contains("nodeName"));
  const auto source = read_trial_source(pod, "x");
  ASSERT_TRUE(source);
  EXPECT_FALSE(make_trial_copy(*source, {"", 0.5}, {}, 1));
}

TEST(TrialManifest, AJobOfSeveralPodsChangesTheirNumber) {
  std::string text = kJob;
  text.replace(text.find("backoffLimit: 6"), 15, "parallelism: 2");
  Json copy = copy_of(text, {"", 12});
  EXPECT_EQ(copy["spec"]["parallelism"], 3);
  EXPECT_EQ(copy["spec"]["completions"], 3);
  const auto limit = [](const Json& job) {
    return job["spec"]["template"]["spec"]["containers"][1]["resources"]["limits"]
              ["nvidia.com/gpu"];
  };
  EXPECT_EQ(limit(copy), "4");
  copy = copy_of(text, {"", 6});
  EXPECT_EQ(copy["spec"]["parallelism"], 1);
  EXPECT_EQ(limit(copy), "6");
}

std::string mpi_job(const std::string& version) {
  return "apiVersion: kubeflow.org/" + version + R"(
kind: MPIJob
metadata: {name: mpi}
spec:
  slotsPerWorker: 2
  runPolicy: {cleanPodPolicy: Running, suspend: true}
  mpiReplicaSpecs:
    Launcher: {replicas: 1, template: {spec: {containers: [{name: l, image: i}]}}}
    Worker:
      replicas: 2
      restartPolicy: OnFailure
      template:
        spec: {containers: [{name: w, image: i, resources: {limits: {nvidia.com/gpu: "2"}}}]}
)";
}

TEST(TrialManifest, AnMpiJobKeepsTheSizeOfItsWorkers) {
  for (const char* version : {"v1", "v2beta1"}) {
    Json spec = copy_of(mpi_job(version), {"A100", 8})["spec"];
    EXPECT_EQ(spec["runPolicy"],
              Json::parse(R"({"activeDeadlineSeconds": 200, "ttlSecondsAfterFinished": 60,
                              "backoffLimit": 0, "cleanPodPolicy": "None"})"));
    const Json& roles = spec["mpiReplicaSpecs"];
    EXPECT_EQ(roles["Worker"]["replicas"], 4);
    EXPECT_EQ(roles["Worker"]["restartPolicy"], "Never");
    EXPECT_EQ(roles["Worker"]["template"]["metadata"]["labels"]["assay.trial"], "mine");
    const Json& worker = roles["Worker"]["template"]["spec"];
    EXPECT_EQ(worker["nodeSelector"]["nvidia.com/gpu.product"], "A100");
    EXPECT_EQ(worker["containers"][0]["resources"]["limits"]["nvidia.com/gpu"], "2");
    const Json& launcher = roles["Launcher"]["template"]["spec"];
    EXPECT_FALSE(launcher.contains("nodeSelector"));
    EXPECT_FALSE(launcher["containers"][0].contains("resources"));
    EXPECT_EQ(launcher["activeDeadlineSeconds"], 200);
    spec = copy_of(mpi_job(version), {"A100", 3})["spec"];
    EXPECT_EQ(spec["mpiReplicaSpecs"]["Worker"]["replicas"], 1);
    EXPECT_EQ(spec["slotsPerWorker"], 3);
  }
}

TEST(TrialManifest, APyTorchJobsMasterIsAWorkerToo) {
  const std::string text = R"(
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: torch}
spec:
  pytorchReplicaSpecs:
    Master: {replicas: 1, template: {spec: {containers: [{name: pytorch, image: i, resources: {limits: {nvidia.com/gpu: 1}}}]}}}
    Worker: {replicas: 3, template: {spec: {containers: [{name: pytorch, image: i, resources: {limits: {nvidia.com/gpu: 1}}}]}}}
)";
  Json roles = copy_of(text, {"A100", 2})["spec"]["pytorchReplicaSpecs"];
  EXPECT_EQ(roles["Worker"]["replicas"], 1);
  EXPECT_EQ(roles["Master"]["replicas"], 1);
  EXPECT_EQ(roles["Master"]["template"]["spec"]["nodeSelector"]["nvidia.com/gpu.product"], "A100");
  roles = copy_of(text, {"A100", 1})["spec"]["pytorchReplicaSpecs"];
  EXPECT_FALSE(roles.contains("Worker"));
  EXPECT_EQ(
      roles["Master"]["template"]["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"],
      "1");
}

TEST(TrialManifest, WhatCannotBeTriedIsTold) {
  for (const char* text :
       {"", "[]", "kind: Job",
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: x}\nspec: {}",
        "apiVersion: batch/v1\nkind: Job\nspec: {}",
        "apiVersion: batch/v1\nkind: Job\nmetadata: {name: x}",
        "apiVersion: v1\nkind: Pod\nmetadata: {name: My_Pod}\nspec: {}",
        "apiVersion: v1\nkind: Pod\nmetadata: {name: x, namespace: a.b}\nspec: {}",
        "a: &a [1]\nb: {? [x] : 1}", "a: 1\n---\nb: 2"})
    EXPECT_FALSE(read_trial_source(text, "f.yaml")) << text;
  for (const char* text :
       {"apiVersion: batch/v1\nkind: Job\nmetadata: {name: x}\nspec: {}",
        "apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec: {containers: []}",
        "apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec: {containers: [1]}",
        "apiVersion: kubeflow.org/v1\nkind: MPIJob\nmetadata: {name: x}\nspec: {}",
        "apiVersion: kubeflow.org/v1\nkind: MPIJob\nmetadata: {name: x}\nspec: {mpiReplicaSpecs: "
        "{Worker: 1}}",
        "apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nmetadata: {name: x}\nspec: "
        "{pytorchReplicaSpecs: {}}"}) {
    const auto source = read_trial_source(text, "f.yaml");
    ASSERT_TRUE(source) << text;
    EXPECT_FALSE(make_trial_copy(*source, {"a", 1}, {}, 1)) << text;
  }
}

TEST(TrialManifest, AContainerThatNoClusterWouldTakeIsTold) {
  const auto trouble = [](const std::string& container) {
    const auto source = read_trial_source(
        "apiVersion: batch/v1\nkind: Job\nmetadata: {name: x}\nspec: {template: {spec: {"
        "containers: [{name: main, image: i}, {name: other, " +
            container + "}]}}}",
        "f.yaml");
    return source ? "none" : source.error().message;
  };
  EXPECT_EQ(trouble("imagee: i"), "f.yaml: container 'other' has no image");
  EXPECT_EQ(trouble("image: i, resources: {limits: {nvidia.com/gpu: many}}"),
            "f.yaml: container 'other': limits of nvidia.com/gpu cannot be 'many', it takes a "
            "number as 2, 500m or 8Gi");
  EXPECT_NE(trouble("image: i, resources: {requests: {cpu: -1}}"), "none");
  EXPECT_NE(trouble("image: i, resources: {requests: {cpu: [1]}}"), "none");
  EXPECT_EQ(
      trouble("image: i, resources: {requests: {cpu: 500m, memory: 1.5Gi, a/b: '2', c/d: 1e3, "
              "e/f: 1Ei, g/h: 5u, i/j: }}"),
      "none");
}

TEST(TrialManifest, PlainWordsOfYamlAreWhatKubernetesTakesThemFor) {
  const auto json = manifest_json(
      R"({a: 1, b: "1", c: 1.5, d: true, e: 'true', f: ~, g: 0644, h: 1e3, i: 8Gi, j: off, k: !!str 5, l: 1.2.3})",
      "f");
  ASSERT_TRUE(json) << json.error().message;
  EXPECT_EQ(*json, Json::parse(R"({"a": 1, "b": "1", "c": 1.5, "d": true, "e": "true", "f": null,
      "g": 420, "h": 1000.0, "i": "8Gi", "j": false, "k": "5", "l": "1.2.3"})"));
}

TEST(TrialManifest, AliasesCannotMakeItHuge) {
  std::string text = "a0: &a0 [1,1,1,1,1,1,1,1]\n";
  for (int i = 1; i < 9; ++i) {
    const std::string one = "*a" + std::to_string(i - 1);
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + one;
    for (int j = 0; j < 7; ++j) text += "," + one;
    text += "]\n";
  }
  EXPECT_FALSE(manifest_json(text, "f"));
}

}  // namespace
}  // namespace assay::cluster
