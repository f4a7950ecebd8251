// SPDX-License-Identifier: Apache-2.0
#include "list_json.h"

#include "answers.h"

#include <fmt/format.h>

#include <gtest/gtest.h>

namespace assay::kubeapi {
namespace {

using Kind = WatchEvent<Pod>::Kind;

constexpr std::string_view kPod = R"({"metadata": {"name": "train-0", "namespace": "lab",
  "uid": "u-1", "resourceVersion": "7", "labels": {"app": "train", "number": 3},
  "annotations": {"assay.goals": "fps >= 10"}, "managedFields": [{"manager": "kubelet"}],
  "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": "u-0", "controller": true}]},
  "spec": {"nodeName": "n1", "containers": [{"name": "main"}]},
  "status": {"containerStatuses": [{"name": "main", "image": "lab/train:2",
     "containerID": "docker://4f2a"}, {"name": "waiting", "image": "lab/x:1"}],
   "initContainerStatuses": [{"name": "fetch", "image": "lab/f:1",
     "containerID": "containerd://77"}]}})";

Pod expected() {
  return {.name = "train-0",
          .name_space = "lab",
          .uid = "u-1",
          .node = "n1",
          .labels = {{"app", "train"}},
          .annotations = {{"assay.goals", "fps >= 10"}},
          .containers = {{"main", "4f2a", "lab/train:2"},
                         {"waiting", "", "lab/x:1"},
                         {"fetch", "77", "lab/f:1", true}},
          .owners = {{"Job", "train", "u-0", "batch/v1", true}},
          .version = "7"};
}

TEST(PodJson, a_page_has_its_pods_and_the_way_to_the_next) {
  const auto page =
      read_page<Pod>(fmt::format(R"({{"kind": "PodList", "metadata": {{"resourceVersion": "9",
          "continue": "next one"}}, "items": [{}, {{"metadata": {{}}}}]}})",
                                 kPod));
  ASSERT_TRUE(page) << page.error().message;
  ASSERT_EQ(page->items.size(), 1U);
  EXPECT_EQ(page->items[0], expected());
  EXPECT_EQ(page->version, "9");
  EXPECT_EQ(page->next, "next one");
}

TEST(PodJson, a_list_can_be_without_items) {
  const auto page = read_page<Pod>(R"({"metadata": {"resourceVersion": "9"}, "items": null})");
  ASSERT_TRUE(page);
  EXPECT_TRUE(page->items.empty());
}

TEST(PodJson, what_happens_to_a_pod_is_told) {
  struct Case {
    const char* type;
    Kind kind;
  };
  for (const auto& [type, kind] :
       {Case{"ADDED", Kind::set}, Case{"MODIFIED", Kind::set}, Case{"DELETED", Kind::gone}}) {
    const auto event =
        read_event<Pod>(fmt::format(R"({{"type": "{}", "object": {}}})", type, kPod));
    ASSERT_TRUE(event) << type;
    EXPECT_EQ(event->kind, kind) << type;
    EXPECT_EQ(event->object, expected()) << type;
    EXPECT_EQ(event->version, "7");
  }
}

TEST(PodJson, a_bookmark_has_only_a_version) {
  const auto event =
      read_event<Pod>(R"({"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": "12"}}})");
  ASSERT_TRUE(event);
  EXPECT_EQ(event->kind, Kind::bookmark);
  EXPECT_EQ(event->version, "12");
}

TEST(PodJson, an_error_is_told_apart_from_a_forgotten_version) {
  const auto expired = read_event<Pod>(R"({"type": "ERROR", "object": {"code": 410}})");
  ASSERT_TRUE(expired);
  EXPECT_EQ(expired->kind, Kind::expired);
  const auto failed =
      read_event<Pod>(R"({"type": "ERROR", "object": {"code": 500, "message": "no etcd"}})");
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->kind, Kind::failed);
  EXPECT_EQ(failed->message, "'no etcd'");
}

TEST(PodJson, very_long_values_are_left_out) {
  const auto event = read_event<Pod>(fmt::format(
      R"({{"type": "ADDED", "object": {{"metadata": {{"name": "a", "uid": "b",
          "resourceVersion": "1", "annotations": {{"long": "{}", "short": "x"}}}}}}}})",
      std::string(5000, 'x')));
  ASSERT_TRUE(event);
  EXPECT_EQ(event->object.annotations, (std::map<std::string, std::string>{{"short", "x"}}));
}

TEST(PodJson, garbage_is_an_error) {
  for (const char* text : {"", "{", "[]", "null", "5", R"({"items": 5})", R"({"metadata": {}})",
                           R"({"metadata": {"resourceVersion": "1"}, "items": 5})"})
    EXPECT_FALSE(read_page<Pod>(text)) << text;
  for (const char* text :
       {"", "{", "[]", R"({"type": "ADDED"})", R"({"type": 5, "object": {}})",
        R"({"type": "OTHER", "object": {"metadata": {"resourceVersion": "1"}}})",
        R"({"type": "ADDED", "object": {"metadata": {"resourceVersion": "1"}}})"})
    EXPECT_FALSE(read_event<Pod>(text)) << text;
}

TEST(PodJson, the_servers_words_are_read) {
  EXPECT_EQ(message_of(R"({"kind": "Status", "message": "pods is forbidden"})"),
            "'pods is forbidden'");
  EXPECT_EQ(message_of("<html>"), "");
}

}  // namespace
}  // namespace assay::kubeapi
