// SPDX-License-Identifier: Apache-2.0
#include "testing/api_server.h"

#include <nlohmann/json.hpp>

#include <assay/kubeapi/annotations.h>
#include <gtest/gtest.h>

namespace assay::kubeapi {
namespace {

using testing::answer;
using testing::ApiServer;
using testing::path_of;
using Json = nlohmann::json;

const ObjectName kPod{.resource = pods(), .name_space = "lab", .name = "train", .uid = "u-1"};
const Annotations kOurs = {{"assay.dev/a", "1"}};

/// The object at this version, on which "assay.dev/a" has this value and the manager.
std::string object(int version, const char* value, const char* manager = "assay") {
  return fmt::format(R"({{"metadata": {{"name": "train", "namespace": "lab", "uid": "u-1",
      "resourceVersion": "{}", "annotations": {{"assay.dev/a": "{}"}}, "managedFields": [{{
      "manager": "{}", "fieldsV1": {{"f:metadata": {{"f:annotations": {{"f:assay.dev/a": {{}}}}}}}}
      }}]}}}})",
                     version, value, manager);
}

std::string conflict_with(const char* manager) {
  return answer(409, fmt::format(R"({{"message": "Apply failed with 1 conflict", "details": {{
      "causes": [{{"reason": "FieldManagerConflict", "field": ".metadata.annotations.assay.dev/a",
      "message": "conflict with \"{}\" using v1"}}]}}}})",
                                 manager));
}

Json body_of(const std::string& request) {
  return Json::parse(request.substr(request.find("\r\n\r\n") + 4), nullptr, false);
}

/// What a writer makes of these answers, and what it asked.
struct Attempt {
  Attempt(std::vector<std::string> answers, const AnnotationOptions& options = {},
          bool clean = false)
      : server(std::move(answers)) {
    Client client(server.access());
    AnnotationWriter writer(client, options);
    net::Stopper stopper;
    result = clean ? writer.clean(kPod, stopper) : writer.write(kPod, kOurs, stopper);
    if (!result) error = result.error().message;
    asked = server.asked();
  }
  Outcome outcome() const { return result ? result->outcome : Outcome::refused; }

  ApiServer server;
  Result<Written> result = Written();
  std::string error;
  std::vector<std::string> asked;
};

TEST(Annotations, are_applied_in_one_request) {
  const Attempt run({answer(200, object(8, "1"))});
  ASSERT_TRUE(run.result) << run.error;
  EXPECT_EQ(run.result->outcome, Outcome::done);
  EXPECT_EQ(run.result->object.version, "8");
  ASSERT_EQ(run.asked.size(), 1U);
  EXPECT_TRUE(run.asked[0].starts_with("PATCH /api/v1/namespaces/lab/pods/train?"));
  EXPECT_EQ(path_of(run.asked[0]),
            "/api/v1/namespaces/lab/pods/train?fieldManager=assay&force=false");
  EXPECT_NE(run.asked[0].find("Content-Type: application/apply-patch+yaml\r\n"), std::string::npos);
  EXPECT_EQ(body_of(run.asked[0])["metadata"]["uid"], "u-1");
}

TEST(Annotations, of_a_pod_that_is_gone_are_no_error) {
  const std::string mismatch = answer(409, R"({"message": "uid mismatch: no existing object"})");
  const std::string invalid = answer(422, R"({"message": "spec.containers: Required value"})");
  const std::string no_right = answer(403, R"({"message": "x cannot create resource \"pods\""})");
  const std::string none = answer(404, "{}");
  const std::string other = answer(200, R"({"metadata": {"name": "train", "uid": "u-2"}})");
  for (const auto& refusal : {mismatch, invalid, no_right}) {
    EXPECT_EQ(Attempt({refusal, none}).outcome(), Outcome::gone) << refusal;
    EXPECT_EQ(Attempt({refusal, other}).outcome(), Outcome::gone) << refusal;
  }
  EXPECT_EQ(Attempt({none}).outcome(), Outcome::gone);
}

TEST(Annotations, that_made_an_empty_object_take_it_away_again) {
  const Attempt run({answer(201, R"({"metadata": {"name": "train", "uid": "u-9"}})"),
                     answer(200, R"({"status": "Success"})")});
  EXPECT_EQ(run.outcome(), Outcome::gone);
  ASSERT_EQ(run.asked.size(), 2U);
  EXPECT_TRUE(run.asked[1].starts_with("DELETE /api/v1/namespaces/lab/pods/train "));
  EXPECT_EQ(body_of(run.asked[1])["preconditions"]["uid"], "u-9");
  const Attempt stuck({answer(201, R"({"metadata": {"name": "train", "uid": "u-9"}})"),
                       answer(403, R"({"message": "cannot delete"})")});
  EXPECT_NE(stuck.error.find("delete it"), std::string::npos) << stuck.error;
}

TEST(Annotations, a_key_of_somebody_else_is_left_to_them) {
  const Attempt run({conflict_with("other-profiler")});
  EXPECT_EQ(run.outcome(), Outcome::taken);
  EXPECT_EQ(run.result->why,
            "'.metadata.annotations.assay.dev/a' of pods lab/train belongs to 'other-profiler'; "
            "take it away there, or use other keys");
}

TEST(Annotations, can_take_a_key_from_somebody_else) {
  const Attempt run({answer(200, object(8, "1"))}, {.force = true});
  EXPECT_EQ(run.outcome(), Outcome::done);
  EXPECT_NE(run.asked[0].find("force=true"), std::string::npos);
}

TEST(Annotations, that_we_merged_once_are_ours) {
  const Attempt run({conflict_with("assay"), answer(200, object(8, "1"))});
  EXPECT_EQ(run.outcome(), Outcome::done);
  EXPECT_NE(run.asked[1].find("force=true"), std::string::npos);
}

TEST(Annotations, are_tried_again_while_others_change_the_object) {
  const std::string conflict = answer(409, R"({"message": "the object has been modified"})");
  const std::string there = answer(200, object(7, "0"));
  EXPECT_EQ(Attempt({conflict, there, answer(200, object(8, "1"))}).outcome(), Outcome::done);
  const Attempt never({conflict, there, conflict, there, conflict, there}, {.tries = 3});
  EXPECT_EQ(never.asked.size(), 6U);
  EXPECT_EQ(never.error, "pods lab/train changes too fast to be annotated");
}

TEST(Annotations, that_are_not_allowed_say_which_right_is_missing) {
  const Attempt run({answer(403, R"({"message": "x cannot patch resource \"pods\""})"),
                     answer(200, object(7, "0"))});
  EXPECT_EQ(run.outcome(), Outcome::forbidden);
  EXPECT_NE(run.result->why.find("let its account patch pods"), std::string::npos);
}

TEST(Annotations, a_busy_server_is_told) {
  const Attempt run({"HTTP/1.1 429 X\r\nRetry-After: 2\r\nContent-Length: 0\r\n\r\n"});
  EXPECT_EQ(run.outcome(), Outcome::throttled);
  EXPECT_EQ(run.result->retry_after, Milliseconds(2000));
}

TEST(Annotations, are_merged_where_the_server_cannot_apply) {
  const ApiServer server({answer(415, "{}"), answer(200, object(7, "0")),
                          answer(409, R"({"message": "modified"})"), answer(200, object(8, "0")),
                          answer(200, object(9, "1")), answer(200, object(9, "1"))});
  Client client(server.access());
  AnnotationWriter writer(client);
  net::Stopper stopper;
  const auto first = writer.write(kPod, kOurs, stopper);
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(first->object.version, "9");
  const auto second = writer.write(kPod, kOurs, stopper);
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(second->outcome, Outcome::done);
  const auto asked = server.asked();
  ASSERT_EQ(asked.size(), 6U) << "nothing is applied and nothing patched when all is there";
  EXPECT_NE(asked[4].find("Content-Type: application/merge-patch+json\r\n"), std::string::npos);
  EXPECT_EQ(path_of(asked[4]), "/api/v1/namespaces/lab/pods/train?fieldManager=assay");
  EXPECT_EQ(body_of(asked[4])["metadata"]["resourceVersion"], "8");
}

TEST(Annotations, merged_ones_of_a_pod_that_is_gone_are_no_error) {
  const AnnotationOptions merge{.apply = false};
  const std::string there = answer(200, object(7, "0"));
  EXPECT_EQ(Attempt({answer(404, "{}")}, merge).outcome(), Outcome::gone);
  EXPECT_EQ(Attempt({there, answer(404, "{}")}, merge).outcome(), Outcome::gone);
  EXPECT_EQ(Attempt({answer(200, object(7, "0", "somebody"))}, merge).outcome(), Outcome::taken);
  const std::string conflict = answer(409, "{}");
  const Attempt never({there, conflict, there, conflict}, {.apply = false, .tries = 2});
  EXPECT_EQ(never.error, "pods lab/train changes too fast to be annotated");
}

TEST(Annotations, are_cleaned_also_of_what_was_merged) {
  const Attempt run({answer(200, object(8, "1")), answer(200, object(8, "1")),
                     answer(200, object(9, "1", "nobody"))},
                    {}, true);
  EXPECT_EQ(run.outcome(), Outcome::done);
  ASSERT_EQ(run.asked.size(), 3U);
  EXPECT_FALSE(body_of(run.asked[0])["metadata"].contains("annotations"));
  EXPECT_TRUE(body_of(run.asked[2])["metadata"]["annotations"]["assay.dev/a"].is_null());
}

TEST(Annotations, need_to_know_which_object_is_meant) {
  const ApiServer server({});
  Client client(server.access());
  AnnotationWriter writer(client);
  net::Stopper stopper;
  EXPECT_FALSE(writer.write({.resource = nodes(), .name = "n"}, kOurs, stopper));
  EXPECT_FALSE(writer.write({.resource = nodes(), .name = "..", .uid = "u"}, kOurs, stopper));
  EXPECT_TRUE(server.asked().empty());
}

TEST(Annotations, without_those_that_others_have_when_that_is_wanted) {
  const Attempt run({conflict_with("other"), answer(200, object(9, "2", "other"))},
                    {.leave_taken = true});
  ASSERT_TRUE(run.result) << run.error;
  EXPECT_EQ(run.result->outcome, Outcome::done);
  EXPECT_NE(run.result->why.find("other"), std::string::npos) << run.result->why;
  ASSERT_EQ(run.asked.size(), 2U);
  EXPECT_FALSE(body_of(run.asked[1])["metadata"]["annotations"].contains("assay.dev/a"));
}

}  // namespace
}  // namespace assay::kubeapi
