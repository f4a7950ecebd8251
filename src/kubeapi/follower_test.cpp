// SPDX-License-Identifier: Apache-2.0
#include "testing/api_server.h"

#include <array>
#include <cstdlib>
#include <fmt/format.h>
#include <fstream>
#include <future>
#include <thread>

#include <assay/base/mutex.h>
#include <assay/kubeapi/follower.h>
#include <gtest/gtest.h>

namespace assay::kubeapi {
namespace {

using net::testing::Connection;
using net::testing::HttpServer;
using testing::answer;
using testing::path_of;
using Server = testing::ApiServer;

std::string pod(std::string_view name, std::string_view version = "1") {
  return fmt::format(
      R"({{"metadata": {{"name": "{0}", "uid": "uid-{0}", "resourceVersion": "{1}"}}}})", name,
      version);
}

std::string page(std::string_view version, std::string_view items, std::string_view next = "") {
  return answer(200, fmt::format(R"({{"metadata": {{"resourceVersion": "{}", "continue": "{}"}},
      "items": [{}]}})",
                                 version, next, items));
}

std::string line(std::string_view type, std::string_view object) {
  return fmt::format("{{\"type\": \"{}\", \"object\": {}}}\n", type, object);
}

/// What a follower told, as "all: a b", "set: a".
class Told {
 public:
  PodFollower::OnChange on_change() {
    return [this](const PodChange& change) {
      constexpr std::array<const char*, 3> kWords = {"all:", "set:", "gone:"};
      std::string text = kWords[static_cast<size_t>(change.kind)];
      for (const auto& one : change.items) text += " " + one.name;
      lines.push_back(std::move(text));
    };
  }
  std::vector<std::string> lines;
};
using Lines = std::vector<std::string>;

Query of_node() {
  Query query = pods_of_node("n 1");
  query.page = 2;
  return query;
}
const Query kAll{.resource = pods()};

TEST(PodFollower, lists_page_by_page_and_watches_from_there) {
  const Server server(
      {page("5", pod("a") + "," + pod("b"), "more/"), page("6", pod("c")),
       answer(200, line("ADDED", pod("d", "7")) + line("DELETED", pod("a", "8")) +
                       line("BOOKMARK", R"({"metadata": {"resourceVersion": "9"}})")),
       answer(200, "")});
  Told told;
  net::Stopper stopper;
  PodFollower follower(server.access(), of_node(), told.on_change());
  EXPECT_EQ(follower.step(stopper), Milliseconds(0));
  EXPECT_EQ(told.lines, Lines{"all: a b c"});
  EXPECT_EQ(follower.step(stopper), Milliseconds(1000));
  EXPECT_EQ(follower.step(stopper), Milliseconds(1000));
  EXPECT_EQ(told.lines, (Lines{"all: a b c", "set: d", "gone: a"}));
  EXPECT_EQ(follower.trouble(), "");
  const auto asked = server.asked();
  ASSERT_EQ(asked.size(), 4U);
  EXPECT_EQ(path_of(asked[0]), "/api/v1/pods?limit=2&fieldSelector=spec.nodeName%3Dn%201");
  EXPECT_EQ(path_of(asked[1]), path_of(asked[0]) + "&continue=more%2F");
  EXPECT_EQ(path_of(asked[2]),
            "/api/v1/pods?watch=1&allowWatchBookmarks=true&timeoutSeconds=290&resourceVersion=6"
            "&fieldSelector=spec.nodeName%3Dn%201");
  EXPECT_NE(asked[3].find("resourceVersion=9&"), std::string::npos) << asked[3];
}

TEST(PodFollower, lists_anew_when_the_server_has_forgotten_the_version) {
  const Server server(
      {page("5", pod("a")), answer(410, R"({"message": "too old"})"), page("20", pod("b")),
       answer(200, line("ERROR", R"({"code": 410, "message": "too old"})")), page("30", pod("c"))});
  Told told;
  net::Stopper stopper;
  PodFollower follower(server.access(), kAll, told.on_change());
  for (int i = 0; i < 5; ++i) follower.step(stopper);
  EXPECT_EQ(told.lines, (Lines{"all: a", "all: b", "all: c"}));
  EXPECT_EQ(follower.trouble(), "");
}

TEST(PodFollower, waits_ever_longer_while_it_fails_and_says_why) {
  const std::string no = answer(403, R"({"message": "pods is forbidden"})");
  const Server server({no, no, no, page("5", pod("a")), answer(500, "")});
  Told told;
  net::Stopper stopper;
  PodFollower follower(server.access(), kAll, told.on_change(),
                       {.first_wait = Milliseconds(10), .longest_wait = Milliseconds(25)});
  EXPECT_EQ(follower.step(stopper), Milliseconds(10));
  EXPECT_NE(follower.trouble().find("answers 403: 'pods is forbidden'; let its account get, list "
                                    "and watch pods"),
            std::string::npos)
      << follower.trouble();
  EXPECT_EQ(follower.step(stopper), Milliseconds(20));
  EXPECT_EQ(follower.step(stopper), Milliseconds(25));
  EXPECT_EQ(follower.step(stopper), Milliseconds(0));
  EXPECT_EQ(follower.trouble(), "");
  EXPECT_EQ(follower.step(stopper), Milliseconds(10));
  EXPECT_NE(follower.trouble(), "");
}

TEST(PodFollower, goes_on_where_it_was_after_a_lost_connection) {
  Lines asked;
  auto http = HttpServer::on_loopback([&](Connection& connection) {
    std::string request = connection.read_request();
    if (asked.empty()) {
      connection.write(page("5", pod("a")));
      asked.push_back(std::move(request));
      request = connection.read_request();
    }
    asked.push_back(std::move(request));
    // Promises more than it has, and closes the connection.
    if (asked.size() < 4)
      connection.write("HTTP/1.1 200 X\r\nContent-Length: 9999\r\n\r\n" +
                       line("ADDED", pod("b", fmt::format("{}", 4 + asked.size()))));
  });
  Told told;
  net::Stopper stopper;
  PodFollower follower({.endpoint = {.base = http->base()}}, kAll, told.on_change());
  for (int i = 0; i < 4; ++i) follower.step(stopper);
  http.reset();  // with its thread, which writes to `asked`
  EXPECT_EQ(told.lines, (Lines{"all: a", "set: b", "set: b"}));
  ASSERT_EQ(asked.size(), 4U);
  EXPECT_NE(asked[2].find("watch=1"), std::string::npos) << asked[2];
  EXPECT_NE(asked[2].find("resourceVersion=6 "), std::string::npos) << asked[2];
  EXPECT_NE(asked[3].find("resourceVersion=7 "), std::string::npos) << asked[3];
}

TEST(PodFollower, a_watch_that_is_no_watch_begins_from_the_list) {
  const Server server({page("5", pod("a")), answer(200, "<html>\n"), page("6", pod("b"))});
  Told told;
  net::Stopper stopper;
  PodFollower follower(server.access(), kAll, told.on_change());
  for (int i = 0; i < 2; ++i) follower.step(stopper);
  EXPECT_EQ(follower.trouble(), "the API server's answer is no watch of pods");
  follower.step(stopper);
  EXPECT_EQ(told.lines, (Lines{"all: a", "all: b"}));
}

TEST(PodFollower, too_many_pods_are_an_error) {
  std::string items;
  for (size_t i = 0; i <= kMostPods; ++i) items += fmt::format("{}{}", i == 0 ? "" : ",", pod("a"));
  const Server server({page("5", items)});
  Told told;
  net::Stopper stopper;
  PodFollower follower(server.access(), kAll, told.on_change());
  follower.step(stopper);
  EXPECT_NE(follower.trouble().find("more than 5000 pods"), std::string::npos);
  EXPECT_TRUE(told.lines.empty());
}

TEST(Follower, begins_its_pages_anew_when_the_server_has_forgotten_them) {
  const std::string gone = answer(410, R"({"reason": "Expired", "metadata": {"continue": "x"}})");
  const Server server(
      {page("5", pod("a"), "next"), gone, page("9", pod("b"), "other"), page("9", pod("c"))});
  Told told;
  net::Stopper stopper;
  PodFollower follower(server.access(), kAll, told.on_change());
  EXPECT_EQ(follower.step(stopper), Milliseconds(0));
  EXPECT_EQ(told.lines, Lines{"all: b c"});
  EXPECT_EQ(path_of(server.asked()[2]), "/api/v1/pods?limit=50");
}

TEST(Follower, does_not_begin_its_pages_anew_for_ever) {
  const std::string gone = answer(410, "{}");
  const Server server({page("1", pod("d"), "n"), gone, gone, gone});
  Client client(server.access());
  net::Stopper stopper;
  const auto never = list<Pod>(client, kAll, stopper);
  ASSERT_FALSE(never);
  EXPECT_TRUE(never.error().temporary);
  EXPECT_EQ(server.asked().size(), 4U);
}

TEST(Follower, leaves_a_busy_server_alone_for_as_long_as_it_asks) {
  const std::string busy = "HTTP/1.1 429 X\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n";
  const Server server({busy, page("5", pod("a")), busy, answer(200, "")});
  Told told;
  net::Stopper stopper;
  PodFollower follower(server.access(), kAll, told.on_change());
  EXPECT_EQ(follower.step(stopper), Milliseconds(7000));
  EXPECT_EQ(follower.step(stopper), Milliseconds(0));
  EXPECT_EQ(follower.step(stopper), Milliseconds(7000));
  EXPECT_EQ(follower.step(stopper), Milliseconds(1000));
  EXPECT_EQ(told.lines, Lines{"all: a"}) << "the watch went on";
}

TEST(Follower, of_what_nobody_installed_knows_that_there_is_nothing) {
  const std::string none = answer(404, "404 page not found");
  const Server server({none, none, none, page("5", pod("a")), none, none, none});
  Told told;
  net::Stopper stopper;
  const Resource mpi{.group = "kubeflow.org", .version = "v2beta1", .plural = "mpijobs"};
  MetaFollower follower(server.access(), {.resource = mpi}, [&](const Change<ObjectMeta>& change) {
    told.lines.push_back(change.items.empty() ? "nothing" : change.items[0].name);
  });
  EXPECT_EQ(follower.step(stopper), Milliseconds(1000)) << "it may only just have been started";
  EXPECT_FALSE(follower.absent());
  EXPECT_EQ(follower.step(stopper), Milliseconds(60'000));
  EXPECT_EQ(follower.step(stopper), Milliseconds(60'000));
  EXPECT_TRUE(follower.absent());
  EXPECT_EQ(follower.trouble(), "");
  EXPECT_EQ(follower.step(stopper), Milliseconds(0));
  EXPECT_FALSE(follower.absent());
  for (int i = 0; i < 3; ++i) follower.step(stopper);
  EXPECT_TRUE(follower.absent());
  EXPECT_EQ(told.lines, (Lines{"nothing", "a", "nothing"}));
}

TEST(Listing, of_what_every_cluster_has_tells_of_a_server_that_is_none) {
  const Server server({answer(404, "<html>"), answer(404, "404 page not found"),
                       answer(200, "<html>"), answer(200, "<html>")});
  Client client(server.access());
  net::Stopper stopper;
  const auto trouble = [&](const Resource& resource) {
    const auto listed = list<ObjectMeta>(client, {.resource = resource}, stopper);
    return listed ? "none" : listed.error().message;
  };
  const std::string none = fmt::format("what answers at {} is no API server of Kubernetes: ",
                                       server.access().endpoint.base);
  const std::string check = "; check the server that the kubeconfig names";
  EXPECT_EQ(trouble(nodes()), none + "it has no nodes" + check);
  EXPECT_EQ(trouble(jobs()), none + "it has no jobs" + check);
  EXPECT_EQ(trouble(pods()), none + "its answer is no list of objects" + check);
  const std::string other = trouble({.group = "kubeflow.org", .plural = "mpijobs"});
  EXPECT_EQ(other.find("no API server of Kubernetes"), std::string::npos) << other;
  EXPECT_NE(other.find("asked for mpijobs.kubeflow.org"), std::string::npos) << other;
}

TEST(Follower, of_any_resource_asks_for_metadata_only) {
  const Server server({page("5", pod("a")), answer(200, line("MODIFIED", pod("a", "6")))});
  Lines told;
  net::Stopper stopper;
  MetaFollower follower(server.access(),
                        {.resource = jobs(), .name_space = "lab", .labels = "app in (x)"},
                        [&](const Change<ObjectMeta>& change) {
                          for (const auto& one : change.items) told.push_back(one.version);
                        });
  for (int i = 0; i < 2; ++i) follower.step(stopper);
  EXPECT_EQ(told, (Lines{"1", "6"}));
  const auto asked = server.asked();
  EXPECT_EQ(path_of(asked[0]),
            "/apis/batch/v1/namespaces/lab/jobs?limit=50&labelSelector=app%20in%20%28x%29");
  EXPECT_NE(asked[0].find("Accept: application/json;as=PartialObjectMetadataList;"),
            std::string::npos);
  EXPECT_NE(asked[1].find("Accept: application/json;as=PartialObjectMetadata;"), std::string::npos);
}

TEST(Follower, of_nodes_tells_nodes) {
  const Server server({page("5", R"({"metadata": {"name": "n1", "uid": "u"},
      "status": {"capacity": {"nvidia.com/gpu": "8"}}})")});
  double found = 0;
  net::Stopper stopper;
  NodeFollower follower(server.access(), {.resource = nodes(), .name_space = "none of theirs"},
                        [&](const Change<Node>& change) {
                          found = change.items.at(0).capacity.at("nvidia.com/gpu");
                        });
  follower.step(stopper);
  EXPECT_EQ(found, 8);
  EXPECT_EQ(path_of(server.asked()[0]), "/api/v1/nodes?limit=50");
}

TEST(PodFollower, a_query_can_allow_more_pods) {
  std::string items;
  for (size_t i = 0; i < 20'000; ++i) items += (i == 0 ? "" : ",") + pod(fmt::format("p{}", i));
  const Server server({page("5", items)});
  size_t found = 0;
  net::Stopper stopper;
  PodFollower follower(server.access(), {.resource = pods(), .page = 20'000, .most = 50'000},
                       [&](const PodChange& change) { found = change.items.size(); });
  follower.step(stopper);
  EXPECT_EQ(found, 20'000U) << follower.trouble();
}

TEST(PodFollower, the_token_is_read_for_each_request) {
  const Server server({page("5", ""), answer(200, "")});
  std::string name = (std::filesystem::temp_directory_path() / "assay-token-XXXXXX").native();
  const Fd fd(::mkstemp(name.data()));
  Access access = server.access();
  access.token_file = name;
  Told told;
  net::Stopper stopper;
  PodFollower follower(std::move(access), kAll, told.on_change());
  std::ofstream(name) << "first\n";
  follower.step(stopper);
  std::ofstream(name) << "second\n";
  follower.step(stopper);
  std::filesystem::remove(name);
  const auto asked = server.asked();
  ASSERT_EQ(asked.size(), 2U);
  EXPECT_NE(asked[0].find("Authorization: Bearer first\r\n"), std::string::npos) << asked[0];
  EXPECT_NE(asked[1].find("Authorization: Bearer second\r\n"), std::string::npos) << asked[1];
}

TEST(PodFollower, can_be_stopped_while_nothing_happens) {
  std::promise<void> watching;
  const auto http = HttpServer::on_loopback([&](Connection& connection) {
    connection.read_request();
    connection.write(page("5", ""));
    connection.read_request();
    connection.write("HTTP/1.1 200 X\r\nContent-Length: 9999\r\n\r\n");
    watching.set_value();
    connection.wait_closed();
  });
  Told told;
  net::Stopper stopper;
  PodFollower follower({.endpoint = {.base = http->base()}}, kAll, told.on_change());
  follower.step(stopper);
  const std::jthread other([&] {
    watching.get_future().wait();
    stopper.stop();
  });
  EXPECT_EQ(follower.step(stopper), Milliseconds(0));
  EXPECT_EQ(follower.trouble(), "");
}

}  // namespace
}  // namespace assay::kubeapi
