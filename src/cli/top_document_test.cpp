// SPDX-License-Identifier: Apache-2.0
#include "top_document.h"

#include <gtest/gtest.h>

namespace assay::cli {
namespace {

TEST(TopDocument, reads_what_the_agent_tells_of_an_app) {
  const auto document = read_top_document(R"({"schema": 1, "time": "2026-02-02T02:40:00Z",
    "node": {"name": "pole-7", "cores": 4, "memory_bytes": 4e9},
    "apps": [{"id": "/docker/1", "kind": "container", "name": "cam", "image": "w/cam:1",
      "running": true, "seconds": 12.5, "cores": {"now": 0.5, "10s": {"mean": 0.4, "p95": 0.6, "max": 0.7}},
      "limits": {"cores": 2, "memory_bytes": 512e6}, "reported": {"fps": {"value": 12.5, "unit": ""}},
      "goals": [{"goal": "fps >= 10", "met": true}], "advice": [{"kind": "idle-rich", "sentence": "Take a core."}]}]})");
  ASSERT_TRUE(document);
  EXPECT_EQ(document->node, "pole-7");
  EXPECT_EQ(document->cores, 4);
  ASSERT_EQ(document->apps.size(), 1U);
  const TopApp& app = document->apps.front();
  EXPECT_EQ(app.name, "cam");
  EXPECT_EQ(app.now("cores"), 0.5);
  EXPECT_EQ(app.values.front().second.spans[0].p95, 0.6);
  EXPECT_EQ(app.values.front().second.spans[1].p95, std::nullopt);
  EXPECT_EQ(app.core_limit, 2);
  EXPECT_EQ(app.reported.at("fps").now, 12.5);
  ASSERT_EQ(app.goals.size(), 1U);
  EXPECT_EQ(app.goals.front().met, true);
  ASSERT_EQ(app.advice.size(), 1U);
  EXPECT_EQ(app.advice.front().sentence, "Take a core.");
}

TEST(TopDocument, names_a_pods_container_by_both) {
  const auto document = read_top_document(
      R"({"apps": [{"name": "k8s_x", "pod": "cam-1", "container": "main"}, {"name": "a", "pod": "b"}]})");
  ASSERT_TRUE(document);
  EXPECT_EQ(document->apps[0].name, "cam-1/main");
  EXPECT_EQ(document->apps[1].name, "b");
}

TEST(TopDocument, leaves_out_what_is_of_another_kind) {
  const auto document = read_top_document(
      R"({"node": "pole-7", "apps": [7, {"id": 3, "name": null, "cores": 1, "memory_bytes": {"now": "x"},
          "limits": [], "goals": {"a": 1}, "advice": [1], "running": "no", "reported": 4, "labels": [1]}]})");
  ASSERT_TRUE(document);
  EXPECT_EQ(document->node, "pole-7");
  ASSERT_EQ(document->apps.size(), 1U);
  EXPECT_EQ(document->apps.front().now("cores"), std::nullopt);
  EXPECT_EQ(document->apps.front().now("memory_bytes"), std::nullopt);
  EXPECT_TRUE(document->apps.front().running);
}

TEST(TopDocument, refuses_what_is_no_table) {
  EXPECT_FALSE(read_top_document(""));
  EXPECT_FALSE(read_top_document("[]"));
  EXPECT_FALSE(read_top_document(R"({"apps": 3})"));
  EXPECT_FALSE(read_top_document(R"({"apps": [)"));
}

TEST(TopDocument, makes_every_text_harmless) {
  const auto document = read_top_document(
      R"({"node": "a\u001b[2J", "apps": [{"name": "x\u001b]0;t\u0007", "labels": {"l\u0001": "\u009b1m"}}]})");
  ASSERT_TRUE(document);
  EXPECT_EQ(document->node, "a?[2J");
  EXPECT_EQ(document->apps.front().name, "x?]0;t?");
  EXPECT_EQ(document->apps.front().facts.back(),
            (std::pair<std::string, std::string>("l?", "?1m")));
}

TEST(TopDocument, an_ended_app_uses_nothing_now) {
  const auto document =
      read_top_document(R"({"apps": [{"running": false, "cores": {"now": 1.5}}]})");
  ASSERT_TRUE(document);
  EXPECT_EQ(document->apps.front().now("cores"), std::nullopt);
}

TEST(EventReader, gives_the_newest_event_of_any_cutting) {
  EventReader reader;
  EXPECT_EQ(reader.take("data: on"), std::nullopt);
  EXPECT_EQ(reader.take("e\n"), std::nullopt);
  EXPECT_EQ(reader.take("\n"), "one");
  EXPECT_EQ(reader.take("data: two\n\ndata: three\n\ndata: fo"), "three");
  EXPECT_EQ(reader.take("ur\n\n"), "four");
}

TEST(EventReader, knows_comments_other_fields_and_many_lines) {
  EventReader reader;
  EXPECT_EQ(reader.take(": still here\r\n\r\nevent: x\r\nid: 7\r\ndata:a\r\ndata: b\r\n\r\n"),
            "a\nb");
}

}  // namespace
}  // namespace assay::cli
