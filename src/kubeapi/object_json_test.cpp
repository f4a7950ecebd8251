// SPDX-License-Identifier: Apache-2.0
#include "object_json.h"

#include "list_json.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

namespace assay::kubeapi {
namespace {

using Json = nlohmann::json;
using Texts = std::map<std::string, std::string>;

TEST(ObjectJson, has_what_all_objects_have) {
  const auto meta = read_object(R"({"kind": "PartialObjectMetadata", "metadata": {"name": "train",
      "namespace": "lab", "uid": "u", "resourceVersion": "12", "labels": {"a": "b"},
      "annotations": {"c": "d", "kubectl.kubernetes.io/last-applied-configuration": "{}"},
      "creationTimestamp": "2026-01-02T03:04:05Z", "deletionTimestamp": "2026-01-02T03:04:06Z",
      "ownerReferences": [{"apiVersion": "kubeflow.org/v2beta1", "kind": "MPIJob", "name": "m",
          "uid": "v", "controller": true}, 5, {"kind": "Other"}]}})");
  ASSERT_TRUE(meta) << meta.error().message;
  EXPECT_EQ(meta->name, "train");
  EXPECT_EQ(meta->name_space, "lab");
  EXPECT_EQ(meta->uid, "u");
  EXPECT_EQ(meta->version, "12");
  EXPECT_EQ(meta->labels, (Texts{{"a", "b"}}));
  EXPECT_EQ(meta->annotations, (Texts{{"c", "d"}})) << "a copy of the object is left out";
  ASSERT_TRUE(meta->created && meta->deleted);
  EXPECT_EQ(*meta->deleted - *meta->created, std::chrono::seconds(1));
  ASSERT_EQ(meta->owners.size(), 3U);
  EXPECT_EQ(meta->owners[0], (Owner{"MPIJob", "m", "v", "kubeflow.org/v2beta1", true}));
  EXPECT_FALSE(meta->owners[2].controller);
  for (const char* text : {"", "[]", "{}", R"({"metadata": {"name": "a"}})", "<html>"})
    EXPECT_FALSE(read_object(text)) << text;
}

constexpr const char* kPending = R"({"metadata": {"name": "p", "uid": "u"},
  "spec": {"hostNetwork": true, "containers": [
     {"name": "main", "image": "x:1", "resources": {"limits": {"cpu": "2", "nvidia.com/gpu": "2"},
        "requests": {"nvidia.com/gpu": "2", "example.com/fpga": 1}}},
     {"name": "beside", "resources": {"limits": {"nvidia.com/gpu": "1"}}}],
   "initContainers": [
     {"name": "fetch", "resources": {"limits": {"nvidia.com/gpu": "4"}}},
     {"name": "proxy", "restartPolicy": "Always", "resources": {"limits": {"example.com/fpga": "1",
        "broken.com/a": "x", "broken.com/b": "nan", "broken.com/c": []}}}]},
  "status": {"phase": "Pending", "startTime": "2026-01-02T03:04:05Z"}})";

TEST(ObjectJson, a_pod_tells_what_it_will_have_before_it_runs) {
  const Pod pod = read_pod(Json::parse(kPending));
  EXPECT_EQ(pod.phase, PodPhase::pending);
  EXPECT_FALSE(pod.started) << "its node has taken it, and it waits for its images";
  EXPECT_TRUE(pod.host_network);
  EXPECT_FALSE(read_pod({{"spec", {{"hostNetwork", "yes"}}}}).host_network);
  ASSERT_EQ(pod.containers.size(), 4U);
  EXPECT_EQ(pod.containers[0].image, "x:1");
  EXPECT_EQ(pod.containers[0].extended, (Amounts{{"nvidia.com/gpu", 2}, {"example.com/fpga", 1}}));
  EXPECT_TRUE(pod.containers[2].prepares);
  EXPECT_FALSE(pod.containers[3].prepares) << "it runs beside the others";
  EXPECT_EQ(pod.containers[3].extended, (Amounts{{"example.com/fpga", 1}}));
  EXPECT_EQ(requested_of(pod, "nvidia.com/gpu"), 4) << "while it is prepared";
  EXPECT_EQ(requested_of(pod, "example.com/fpga"), 2);
  EXPECT_EQ(requested_of(pod, "other.com/gpu"), 0);
  EXPECT_EQ(requested_of(pod, "memory"), 0) << "it is not kept";
}

TEST(ObjectJson, a_pod_starts_when_the_first_of_its_containers_begins) {
  Json json = Json::parse(R"({"status": {"phase": "Running", "startTime": "2026-01-02T03:00:00Z",
    "initContainerStatuses": [{"name": "fetch", "restartCount": 0,
        "state": {"terminated": {"startedAt": "2026-01-02T03:10:00Z"}}}],
    "containerStatuses": [{"name": "wait", "state": {"waiting": {}}}, {"name": "main",
        "restartCount": 0, "state": {"running": {"startedAt": "2026-01-02T03:11:00Z"}}}]}})");
  EXPECT_EQ(read_pod(json).started, parse_utc("2026-01-02T03:10:00Z"));
  json["status"]["initContainerStatuses"][0]["restartCount"] = 2;
  EXPECT_EQ(read_pod(json).started, parse_utc("2026-01-02T03:00:00Z")) << "it began before";
  json["status"].erase("initContainerStatuses");
  json["status"].erase("containerStatuses");
  EXPECT_EQ(read_pod(json).started, parse_utc("2026-01-02T03:00:00Z")) << "nothing else is known";
}

TEST(ObjectJson, phases_have_their_words) {
  const std::vector<std::pair<const char*, PodPhase>> phases = {{"Running", PodPhase::running},
                                                                {"Succeeded", PodPhase::succeeded},
                                                                {"Failed", PodPhase::failed},
                                                                {"Unknown", PodPhase::unknown},
                                                                {"Odd", PodPhase::unknown}};
  for (const auto& [word, phase] : phases)
    EXPECT_EQ(read_pod({{"status", {{"phase", word}}}}).phase, phase) << word;
}

TEST(ObjectJson, a_node_tells_what_it_has) {
  const Node node = read_node(Json::parse(R"({"metadata": {"name": "n", "uid": "u",
      "resourceVersion": "3", "labels": {"nvidia.com/gpu.product": "A100"}},
    "spec": {"unschedulable": true, "taints": [{"key": "k", "value": "v", "effect": "NoSchedule"}, 7]}, "status": {
      "capacity": {"cpu": "64", "memory": "1Ki", "nvidia.com/gpu": "8", "bad": {}},
      "allocatable": {"cpu": "63500m", "nvidia.com/gpu": 7},
      "conditions": [{"type": "MemoryPressure", "status": "False"}, 3,
                     {"type": "Ready", "status": "True"}]}})"));
  EXPECT_EQ(node.name, "n");
  EXPECT_EQ(node.version, "3");
  EXPECT_EQ(node.capacity, (Amounts{{"cpu", 64}, {"memory", 1024}, {"nvidia.com/gpu", 8}}));
  EXPECT_EQ(node.allocatable, (Amounts{{"cpu", 63.5}, {"nvidia.com/gpu", 7}}));
  EXPECT_TRUE(node.ready && node.unschedulable);
  EXPECT_EQ(node.taints, (std::vector<Taint>{{"k", "NoSchedule"}, {}}));
  const Node cut = read_node(Json::parse(R"({"status": {"conditions": [{"type": "Ready",
      "status": "Unknown"}]}})"));
  EXPECT_FALSE(cut.ready || cut.unschedulable);
}

TEST(ObjectJson, what_is_large_is_left_out_and_labels_of_that_name_are_not) {
  constexpr const char* kObject = R"({"metadata": {"name": "a", "uid": "b", "resourceVersion": "1",
      "managedFields": [{"manager": "x"}], "labels": {"images": "i", "volumes": "v"}},
      "status": {"images": [{"names": ["x"]}], "capacity": {"cpu": "1"}}})";
  const auto event = read_event<Node>(fmt::format(R"({{"type": "ADDED", "object": {}}})", kObject));
  ASSERT_TRUE(event) << event.error().message;
  EXPECT_EQ(event->object.labels, (Texts{{"images", "i"}, {"volumes", "v"}}));
  const auto page = read_page<Node>(
      fmt::format(R"({{"metadata": {{"resourceVersion": "1"}}, "items": [{}]}})", kObject));
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_EQ(page->items.at(0), event->object);
  EXPECT_EQ(page->items[0].capacity, (Amounts{{"cpu", 1}}));
}

TEST(ObjectJson, knows_whose_an_annotation_is) {
  const Json object = Json::parse(R"({"metadata": {"managedFields": [
      {"manager": "assay", "operation": "Apply", "fieldsV1": {"f:metadata": {"f:annotations":
          {".": {}, "f:assay.dev/a": {}, "odd": {}}}}},
      {"manager": "other", "fieldsV1": {"f:metadata": {"f:annotations": {"f:theirs": {}}}}},
      {"manager": "assay", "operation": "Update", "fieldsV1": {"f:metadata": {"f:annotations":
          {"f:assay.dev/b": {}}}}}, {"manager": "assay"}, 7]}})");
  EXPECT_EQ(owned_annotations(object, "assay"),
            (std::set<std::string>{"assay.dev/a", "assay.dev/b"}));
  EXPECT_TRUE(owned_annotations(Json(), "assay").empty());
}

TEST(Objects, are_at_their_paths) {
  const ObjectName pod{.resource = pods(), .name_space = "lab", .name = "a"};
  EXPECT_EQ(object_path(pod).value_or(""), "/api/v1/namespaces/lab/pods/a");
  const ObjectName node{.resource = nodes(), .name = "n 1"};
  EXPECT_EQ(object_path(node).value_or(""), "/api/v1/nodes/n%201");
  const Resource mpi{
      .group = "kubeflow.org", .version = "v2beta1", .plural = "mpijobs", .kind = "MPIJob"};
  EXPECT_EQ(object_path({.resource = mpi, .name_space = "lab", .name = "m"}).value_or(""),
            "/apis/kubeflow.org/v2beta1/namespaces/lab/mpijobs/m");
  EXPECT_EQ(mpi.name(), "mpijobs.kubeflow.org");
  EXPECT_EQ(pods().name(), "pods");
}

TEST(Objects, have_no_names_that_lead_elsewhere) {
  for (const char* name : {"", ".", "..", "a/b", "%2e%2e"}) {
    EXPECT_FALSE(object_path({.resource = pods(), .name_space = "lab", .name = name})) << name;
    EXPECT_FALSE(object_path({.resource = pods(), .name_space = name, .name = "a"})) << name;
  }
}

}  // namespace
}  // namespace assay::kubeapi
