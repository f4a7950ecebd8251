// SPDX-License-Identifier: Apache-2.0
#include "status.h"

#include <fmt/format.h>

#include <assay/net/http_client.h>
#include <gtest/gtest.h>

namespace assay::cluster {
namespace {

bool has_line(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

TEST(Status, is_text_for_prometheus) {
  Status status{.leads = true,
                .rounds = 12,
                .failed_readings = 3,
                .round_seconds = 1.5,
                .nodes = 2,
                .pods = 40,
                .jobs = 5,
                .gpus = 16,
                .history_saved = false};
  status.writes.by_outcome = {100, 1, 2, 3, 4, 5};
  status.writes.unanswered = 6;
  status.writes.waiting = 7;
  status.writes.stalest_seconds = 90;
  const auto text = status_text(status);
  for (const char* line :
       {"assay_cluster_leads 1", "assay_cluster_rounds_total 12",
        "assay_cluster_failed_readings_total 3", "assay_cluster_round_seconds 1.5",
        "assay_cluster_nodes 2", "assay_cluster_pods 40", "assay_cluster_jobs 5",
        "assay_cluster_gpus 16", "assay_cluster_history_saved 0",
        "assay_cluster_annotations_waiting 7", "assay_cluster_annotation_staleness_seconds 90",
        "assay_cluster_patches_unanswered_total 6", "# TYPE assay_cluster_patches_total counter",
        R"(assay_cluster_patches_total{outcome="done"} 100)",
        R"(assay_cluster_patches_total{outcome="taken"} 2)",
        R"(assay_cluster_patches_total{outcome="refused"} 5)"})
    EXPECT_TRUE(has_line(text, line)) << line << "\n" << text;
  EXPECT_EQ(text.find("reading_age"), std::string::npos) << "nothing has been read yet";
  status.reading_age_seconds = 4;
  EXPECT_TRUE(has_line(status_text(status), "assay_cluster_reading_age_seconds 4"));
}

TEST(Status, is_a_sentence_for_whoever_asked_for_some_rounds) {
  Status status{.leads = true, .rounds = 1, .nodes = 1, .pods = 40};
  status.writes.by_outcome[0] = 41;
  EXPECT_EQ(status_sentence(status),
            "1 round: 1 node, 40 pods and 0 jobs seen, 41 patches written");
  status.gpus = 2;
  status.jobs = 1;
  status.rounds = 3;
  status.failed_readings = 1;
  status.writes.by_outcome = {1, 9, 2, 9, 4, 5};
  status.writes.unanswered = 6;
  status.writes.why = "pods \"a\" is forbidden";
  status.writes.waiting = 7;
  EXPECT_EQ(status_sentence(status),
            "3 rounds: 1 node with 2 GPUs, 40 pods and 1 job seen, 1 patch written; 17 failed, the "
            "last one: pods \"a\" is forbidden; 7 were not written: give more --rounds; "
            "nothing was read in 1 round");
  status.writes.waiting = 1;
  EXPECT_NE(status_sentence(status).find("; 1 was not written: give more --rounds; "),
            std::string::npos)
      << "there is no later round";
  status = {.another_leads = true, .rounds = 2, .history_saved = false};
  EXPECT_EQ(status_sentence(status),
            "2 rounds: 0 nodes, 0 pods and 0 jobs seen, 0 patches written; another replica writes; "
            "the history could not be written");
  status = {.rounds = 1};
  EXPECT_EQ(status_sentence(status),
            "1 round: 0 nodes, 0 pods and 0 jobs seen, 0 patches written; no replica writes, as "
            "none has the lease assay-profiler yet: see above, or give more --rounds");
}

struct Served {
  Served() {
    auto started = StatusServer::start("127.0.0.1:0", clock, std::chrono::hours(1));
    if (!started) return;
    server = std::move(*started);
  }
  net::Response get(const std::string& path) {
    net::HttpClient client({.base = fmt::format("http://127.0.0.1:{}", server->port())});
    net::Request request;
    request.path = path;
    const auto answer = client.send(request);
    return answer ? *answer : net::Response();
  }

  ManualClock clock{Timestamp(std::chrono::seconds(1000))};
  std::unique_ptr<StatusServer> server;
};

TEST(StatusServer, tells_what_it_was_set_to) {
  Served served;
  ASSERT_TRUE(served.server);
  EXPECT_TRUE(has_line(served.get("/metrics").body, "assay_cluster_rounds_total 0"));
  served.server->set({.rounds = 3});
  EXPECT_TRUE(has_line(served.get("/metrics").body, "assay_cluster_rounds_total 3"));
  EXPECT_EQ(served.get("/else").status, 404);
}

TEST(StatusServer, is_healthy_while_rounds_come_to_their_end) {
  Served served;
  ASSERT_TRUE(served.server);
  served.clock.advance(std::chrono::minutes(69));
  EXPECT_EQ(served.get("/healthz").status, 200) << "there is a round each hour";
  served.clock.advance(std::chrono::minutes(2));
  EXPECT_EQ(served.get("/healthz").status, 503);
  EXPECT_EQ(served.get("/readyz").status, 503);
  served.server->alive();
  EXPECT_EQ(served.get("/healthz").body, "ok\n");
}

TEST(StatusServer, an_address_that_is_none_is_an_error) {
  const SystemClock clock;
  EXPECT_FALSE(StatusServer::start("nowhere:x", clock, {}));
}

}  // namespace
}  // namespace assay::cluster
