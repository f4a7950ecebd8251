// SPDX-License-Identifier: Apache-2.0
#include "annotation_patch.h"

#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

namespace assay::kubeapi {
namespace {

using Json = nlohmann::json;

const ObjectName kPod{.resource = pods(), .name_space = "lab", .name = "train", .uid = "u-1"};

constexpr const char* kObject = R"({"metadata": {"name": "train", "uid": "u-1",
  "resourceVersion": "9", "annotations": {"assay.dev/a": "1", "assay.dev/old": "2", "theirs": "3"},
  "managedFields": [{"manager": "assay", "fieldsV1": {"f:metadata": {"f:annotations":
     {"f:assay.dev/a": {}, "f:assay.dev/old": {}, "f:assay.dev/lost": {}}}}}]}})";

Json merged(const Annotations& annotations, bool force = false) {
  const MergePatch patch = merge_patch(kObject, annotations, {.force = force});
  EXPECT_EQ(patch.taken, "");
  return Json::parse(patch.body, nullptr, false);
}

TEST(AnnotationPatch, an_apply_is_the_whole_wish_and_nothing_else) {
  EXPECT_EQ(Json::parse(apply_body(kPod, {{"assay.dev/a", "x"}})),
            Json::parse(R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "train",
                "namespace": "lab", "uid": "u-1", "annotations": {"assay.dev/a": "x"}}})"));
  const Json node = Json::parse(
      apply_body({.resource = nodes(), .name_space = "x", .name = "n", .uid = "u"}, {}));
  EXPECT_EQ(node["metadata"], (Json{{"name", "n"}, {"uid", "u"}}));
}

TEST(AnnotationPatch, an_apply_can_be_read_as_yaml) {
  const std::string odd =
      "tab\t del\x7f c1\xc2\x85 nbsp\xc2\xa0 smile\xf0\x9f\x98\x80 \"\\ bad\xff";
  const std::string body = apply_body(kPod, {{"k", odd}});
  EXPECT_EQ(body.find('\x7f'), std::string::npos);
  EXPECT_EQ(body.find("\xc2\x85"), std::string::npos);
  EXPECT_NE(body.find("\xf0\x9f\x98\x80"), std::string::npos) << "pairs of escapes are no YAML";
  EXPECT_EQ(Json::parse(body)["metadata"]["annotations"]["k"],
            "tab\t del\x7f c1\xc2\x85 nbsp\xc2\xa0 smile\xf0\x9f\x98\x80 \"\\ bad\xef\xbf\xbd");
}

TEST(AnnotationPatch, a_merge_sets_what_differs_and_takes_away_what_is_ours_and_old) {
  EXPECT_EQ(merged({{"assay.dev/a", "1"}, {"assay.dev/new", "5"}}),
            Json::parse(R"({"metadata": {"uid": "u-1", "resourceVersion": "9",
                "annotations": {"assay.dev/new": "5", "assay.dev/old": null}}})"));
  EXPECT_EQ(merged({})["metadata"]["annotations"],
            Json::parse(R"({"assay.dev/a": null, "assay.dev/old": null})"))
      << "what is gone already need not go";
}

TEST(AnnotationPatch, a_merge_of_what_is_there_is_none) {
  EXPECT_EQ(
      merge_patch(kObject, {{"assay.dev/a", "1"}, {"assay.dev/old", "2"}, {"theirs", "3"}}, {})
          .body,
      "");
}

TEST(AnnotationPatch, a_merge_leaves_others_keys_alone_unless_it_is_told_to_take_them) {
  const MergePatch patch = merge_patch(kObject, {{"theirs", "mine"}}, {});
  EXPECT_EQ(patch.taken, "theirs");
  EXPECT_EQ(patch.body, "");
  EXPECT_EQ(merged({{"theirs", "mine"}}, true)["metadata"]["annotations"]["theirs"], "mine");
}

TEST(AnnotationPatch, of_garbage_holds_for_nothing) {
  for (const char* text : {"", "[]", R"({"metadata": 3})"}) {
    const MergePatch patch = merge_patch(text, {{"a", "1"}}, {});
    EXPECT_EQ(Json::parse(patch.body)["metadata"]["uid"], "") << text;
  }
}

}  // namespace
}  // namespace assay::kubeapi
