// SPDX-License-Identifier: Apache-2.0
#include "testing/api_server.h"
#include "write_answers.h"

#include <nlohmann/json.hpp>

#include <assay/kubeapi/writes.h>
#include <gtest/gtest.h>

namespace assay::kubeapi {
namespace {

using testing::answer;
using testing::ApiServer;
using testing::path_of;

constexpr const char* kJob =
    R"({"metadata": {"name": "train-x7", "namespace": "lab", "uid": "u-1", "resourceVersion": "4"}})";
const ObjectName kName{.resource = jobs(), .name_space = "lab", .name = "train-x7", .uid = "u-1"};

nlohmann::json body_of(const std::string& request) {
  return nlohmann::json::parse(request.substr(request.find("\r\n\r\n") + 4), nullptr, false);
}

TEST(Writes, an_object_of_any_kind_is_created_read_and_deleted) {
  const ApiServer server({answer(201, kJob), answer(200, kJob), answer(200, kJob),
                          answer(200, R"({"kind": "Status", "status": "Success"})")});
  Client client(server.access());
  net::Stopper stopper;
  const auto made = create_object(client, jobs(), "lab", R"({"kind": "Job"})", stopper);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->outcome, Outcome::done);
  EXPECT_EQ(made->object.uid, "u-1") << "also when the server has chosen the name";
  const auto read = get_object(client, kName, stopper);
  ASSERT_TRUE(read && *read);
  EXPECT_EQ(**read, kJob);
  const auto meta = get_meta(client, kName, stopper);
  ASSERT_TRUE(meta && *meta);
  EXPECT_EQ((*meta)->version, "4");
  const auto gone = delete_object(client, kName, Propagation::foreground, stopper);
  ASSERT_TRUE(gone) << gone.error().message;
  EXPECT_EQ(gone->outcome, Outcome::done);
  const auto asked = server.asked();
  EXPECT_TRUE(asked[0].starts_with("POST /apis/batch/v1/namespaces/lab/jobs HTTP/1.1\r\n"));
  EXPECT_EQ(path_of(asked[1]), "/apis/batch/v1/namespaces/lab/jobs/train-x7");
  EXPECT_NE(asked[2].find("Accept: application/json;as=PartialObjectMetadata;"), std::string::npos);
  EXPECT_TRUE(asked[3].starts_with("DELETE /apis/batch/v1/namespaces/lab/jobs/train-x7 "));
  EXPECT_EQ(body_of(asked[3])["propagationPolicy"], "Foreground");
  EXPECT_EQ(body_of(asked[3])["preconditions"]["uid"], "u-1");
}

TEST(Writes, what_is_not_there_is_no_error) {
  const ApiServer server(
      {answer(404, "{}"), answer(404, "{}"), answer(409, "{}"), answer(404, "")});
  Client client(server.access());
  net::Stopper stopper;
  const auto meta = get_meta(client, kName, stopper);
  ASSERT_TRUE(meta) << meta.error().message;
  EXPECT_FALSE(*meta);
  EXPECT_EQ(delete_object(client, kName, Propagation::background, stopper)->outcome, Outcome::gone);
  EXPECT_EQ(delete_object(client, kName, Propagation::background, stopper)->outcome, Outcome::gone)
      << "another one has the name";
  EXPECT_EQ(create_object(client, jobs(), "no such", "{}", stopper)->outcome, Outcome::gone);
}

TEST(Writes, a_web_server_that_is_no_cluster_is_told_as_such) {
  const ApiServer server({answer(404, "<html>"), answer(404, R"({"kind": "Status"})")});
  Client client(server.access());
  net::Stopper stopper;
  const ObjectName lab = {
      .resource = {.plural = "namespaces", .kind = "Namespace", .namespaced = false},
      .name = "lab"};
  const auto found = get_meta(client, lab, stopper);
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().message.find("is no API server of Kubernetes: it has no namespaces"),
            std::string::npos)
      << found.error().message;
  const auto none = get_meta(client, lab, stopper);
  ASSERT_TRUE(none) << none.error().message;
  EXPECT_FALSE(*none);
}

TEST(Writes, another_object_of_the_same_name_is_not_the_one) {
  const ApiServer server({answer(200, R"({"metadata": {"name": "train-x7", "uid": "u-2"}})")});
  Client client(server.access());
  net::Stopper stopper;
  const auto other = get_object(client, kName, stopper);
  ASSERT_TRUE(other) << other.error().message;
  EXPECT_FALSE(*other);
}

TEST(Writes, tell_what_to_do_about_a_refusal) {
  struct Case {
    std::string answer;
    Outcome outcome;
    const char* why;
  };
  const std::string no_role =
      R"({"message": "jobs.batch is forbidden: User \"x\" cannot create resource \"jobs\""})";
  const std::vector<Case> cases = {
      {answer(403, no_role), Outcome::forbidden, "; let its account create jobs.batch"},
      {answer(403, R"({"message": "exceeded quota: lab"})"), Outcome::refused, "exceeded quota"},
      {answer(409, R"({"message": "already exists"})"), Outcome::taken, "already exists"},
      {answer(422, R"({"message": "spec.template: Required"})"), Outcome::refused, "Required"},
      {answer(400, "<html>"), Outcome::refused, "answers 400"}};
  std::vector<std::string> answers;
  answers.reserve(cases.size());
  for (const auto& each : cases) answers.push_back(each.answer);
  const ApiServer server(answers);
  Client client(server.access());
  net::Stopper stopper;
  for (const auto& each : cases) {
    const auto made = create_object(client, jobs(), "lab", "{}", stopper);
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_EQ(made->outcome, each.outcome) << each.why;
    EXPECT_NE(made->why.find(each.why), std::string::npos) << made->why;
  }
}

TEST(Writes, a_busy_server_says_for_how_long) {
  const ApiServer server({"HTTP/1.1 429 X\r\nRetry-After: 3\r\nContent-Length: 0\r\n\r\n",
                          "HTTP/1.1 429 X\r\nRetry-After: 99999999\r\nContent-Length: 0\r\n\r\n",
                          "HTTP/1.1 429 X\r\nRetry-After: soon\r\nContent-Length: 0\r\n\r\n",
                          answer(503, "")});
  Client client(server.access());
  net::Stopper stopper;
  const auto busy = create_object(client, jobs(), "lab", "{}", stopper);
  ASSERT_TRUE(busy) << busy.error().message;
  EXPECT_EQ(busy->outcome, Outcome::throttled);
  EXPECT_EQ(busy->retry_after, Milliseconds(3000));
  EXPECT_EQ(create_object(client, jobs(), "lab", "{}", stopper)->retry_after,
            Milliseconds(300'000));
  EXPECT_EQ(create_object(client, jobs(), "lab", "{}", stopper)->retry_after, Milliseconds(0));
  const auto down = create_object(client, jobs(), "lab", "{}", stopper);
  ASSERT_FALSE(down);
  EXPECT_TRUE(down.error().temporary);
}

TEST(Writes, garbage_is_an_error) {
  const ApiServer server({answer(201, "<html>"), answer(200, "[]"), answer(401, "")});
  Client client(server.access());
  net::Stopper stopper;
  EXPECT_FALSE(create_object(client, jobs(), "lab", "{}", stopper));
  EXPECT_FALSE(get_meta(client, kName, stopper));
  const auto unknown = get_meta(client, kName, stopper);
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message.find("check the token"), std::string::npos);
}

TEST(Writes, conflicts_of_fields_name_their_managers) {
  const auto found = field_conflicts(R"({"reason": "Conflict", "details": {"causes": [
      {"reason": "FieldManagerConflict", "message": "conflict with \"kubectl-annotate\" using v1",
       "field": ".metadata.annotations.a"}, {"reason": "Other"}, 5,
      {"reason": "FieldManagerConflict", "message": "odd"}]}})");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].field, ".metadata.annotations.a");
  EXPECT_EQ(found[0].manager, "kubectl-annotate");
  EXPECT_EQ(found[1].manager, "");
  for (const char* text : {"", "[]", "{}", R"({"details": {"causes": 3}})"})
    EXPECT_TRUE(field_conflicts(text).empty()) << text;
}

}  // namespace
}  // namespace assay::kubeapi
