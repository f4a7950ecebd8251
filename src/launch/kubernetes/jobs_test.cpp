// SPDX-License-Identifier: Apache-2.0
#include "docker/container.h"
#include "kubernetes/job_manifest.h"
#include "kubernetes/testing/fake_cluster.h"
#include "process/testing.h"

#include <chrono>
#include <future>

#include <assay/launch/agents.h>

namespace assay::launch {
namespace {

using Plain = nlohmann::json;

TEST_F(JobsTest, an_app_is_measured_by_its_nodes_agent_on_our_clock) {
  const SystemClock clock;
  auto app = start(cluster.settings());
  ASSERT_TRUE(app) << app.error().message;
  EXPECT_EQ((*app)->isolation(), "pod");
  ASSERT_TRUE((*app)->started());
  EXPECT_LT(std::abs(assay::seconds(*(*app)->started() - clock.now())), 5);
  const auto probes = (*app)->remote_probes();
  ASSERT_EQ(probes.size(), 1);
  EXPECT_FALSE(ends(**app, Milliseconds(3300)));
  EXPECT_FALSE((*app)->exited());
  cluster.set_state(R"({"terminated": {"exitCode": 3, "reason": "Error"}})");
  ASSERT_TRUE(ends(**app));
  EXPECT_TRUE((*app)->exited());
  MemorySeries kept;
  ASSERT_TRUE(probes[0]->sample(clock, kept));
  const Series* cpu = kept.find("cpu_usage_seconds_total");
  ASSERT_NE(cpu, nullptr);
  EXPECT_EQ(cpu->info.source, "agent on n1 (cgroup)");
  EXPECT_GE(cpu->values.size(), 3);
  EXPECT_NEAR(cpu->values.back(), assay::seconds(cpu->times.back() - cpu->times.front()) * 2, 1);
  const auto elsewhere = (*app)->elsewhere();
  ASSERT_TRUE(elsewhere);
  EXPECT_EQ(elsewhere->node, "n1");
  EXPECT_NEAR(assay::seconds(elsewhere->clock_offset), 90, 0.5);
  EXPECT_LT(elsewhere->clock_uncertainty, Milliseconds(1000));
  EXPECT_TRUE((*app)->ended());
  const Exit exit = (*app)->release();
  EXPECT_EQ(exit.code, 3);
  EXPECT_EQ(exit.user_seconds, 1.5);
  EXPECT_EQ(exit.detail, "exited with code 3");
  EXPECT_FALSE((*app)->left_behind());
  EXPECT_EQ(cluster.asked("DELETE"),
            (std::vector<std::string>{
                "DELETE /apis/batch/v1/namespaces/default/jobs/assay-20260131-120000-7f3a-1"}));
  EXPECT_EQ(log(), "one\ntwo\n");
  EXPECT_EQ(cluster.job()["metadata"]["annotations"]["assay.dev/owner"],
            Owner::self(SysRoot()).text());
}

TEST_F(JobsTest, the_node_is_the_device) {
  const auto jobs = open_jobs(cluster.settings());
  EXPECT_EQ(jobs->node(), "");
  EXPECT_TRUE(jobs->obstacles(request().target).empty());
  EXPECT_EQ(jobs->node(), "n1");
  EXPECT_EQ(jobs->device().hostname, "n1");
  EXPECT_EQ(jobs->device().cores, 4);
  EXPECT_EQ(jobs->device().memory_bytes, 1U << 30U);
  EXPECT_EQ(jobs->device().kernel, "6.1");
}

TEST_F(JobsTest, the_agents_token_is_the_clusters_secret) {
  cluster.wanted_token = "secret-token";
  EXPECT_TRUE(open_jobs(cluster.settings())->obstacles(request().target).empty());
}

TEST_F(JobsTest, a_token_that_the_agent_refuses_is_told_before_anything_starts) {
  cluster.wanted_token = "other";
  const auto of_secret = start(cluster.settings());
  ASSERT_FALSE(of_secret);
  EXPECT_EQ(of_secret.error().message,
            "the agent on n1 refused the token of the secret assay-reader in namespace assay, "
            "saying 'this takes a token'; give one that is among its `tokens` with "
            "--agent-token-file");
  auto settings = cluster.settings();
  settings.agent_token = "wrong";
  settings.agent_token_file = "word.txt";
  const auto of_file = start(settings);
  ASSERT_FALSE(of_file);
  EXPECT_TRUE(
      of_file.error().message.starts_with("the agent on n1 refused the token from word.txt"))
      << of_file.error().message;
  EXPECT_TRUE(cluster.asked("POST").empty());
}

TEST_F(JobsTest, an_agent_that_wants_a_token_where_there_is_none_is_told_as_such) {
  cluster.wanted_token = "other";
  cluster.answer_instead(
      [&](const net::ServerRequest& request) -> std::optional<net::ServerResponse> {
        if (!request.path.ends_with("/secrets/assay-reader")) return std::nullopt;
        return FakeCluster::json(R"({"kind": "Status"})", 403);
      });
  const auto app = start(cluster.settings());
  ASSERT_FALSE(app);
  EXPECT_EQ(app.error().message,
            "the agent on n1 cannot be asked: it wants a token, and there is none to show; give "
            "one with --agent-token-file, or let your account get the secret assay-reader of the "
            "agents' namespace assay");
}

TEST_F(JobsTest, who_refused_is_told_the_agent_or_the_api_server_before_it) {
  std::string body;
  int status = 403;
  cluster.answer_instead(
      [&](const net::ServerRequest& request) -> std::optional<net::ServerResponse> {
        if (!request.path.ends_with("/proxy/api/v1/apps")) return std::nullopt;
        return FakeCluster::json(body, status);
      });
  const auto told = [&](int answer, const std::string& words) {
    status = answer;
    body = words;
    const auto app = start(cluster.settings());
    return app ? "" : app.error().message;
  };
  const std::string lacks = told(403, R"({"error": "this token lacks the role read"})");
  EXPECT_TRUE(
      lacks.starts_with("the agent on n1 refused the token of the secret assay-reader in "
                        "namespace assay, saying 'this token lacks the role read'"))
      << lacks;
  EXPECT_EQ(told(403, R"({"kind": "Status", "message": "forbidden"})"),
            "the agent on n1 cannot be asked: your account may not; let it get pods/proxy in the "
            "agents' namespace");
  EXPECT_EQ(told(401, R"({"kind": "Status", "message": "Unauthorized"})"),
            "the agent on n1 cannot be asked: the API server does not know your account; check the "
            "token or the certificate");
}

TEST_F(JobsTest, what_somebody_else_started_is_watched_too) {
  cluster.wanted_token = "secret-token";
  const SystemClock clock;
  const auto agents = open_agents(cluster.settings(), clock);
  const auto watch = agents->watch("n1", kId);
  ASSERT_TRUE(watch) << watch.error().message;
  EXPECT_FALSE((*watch)->started());
  MemorySeries kept;
  ASSERT_TRUE((*watch)->look(kept).value());
  ASSERT_TRUE((*watch)->started());
  EXPECT_LT(std::abs(assay::seconds(*(*watch)->started() - clock.now())), 5) << "on our clock";
  EXPECT_FALSE((*watch)->ended());
  cluster.set_state(R"({"terminated": {"exitCode": 0}})");
  ASSERT_TRUE((*watch)->look(kept).value());
  EXPECT_TRUE((*watch)->ended());
  EXPECT_EQ((*watch)->used().user_seconds, 1.5);
  EXPECT_EQ((*watch)->elsewhere().measured_by, "agent on n1");
  const Series* cpu = kept.find("cpu_usage_seconds_total");
  ASSERT_NE(cpu, nullptr);
  EXPECT_EQ(cpu->values.front(), 0);
  EXPECT_EQ(agents->device("n1").cores, 4);
  EXPECT_EQ(agents->device("n1").kernel, "6.1");
  EXPECT_TRUE(cluster.asked("DELETE").empty()) << "it is not ours";
}

TEST_F(JobsTest, a_container_that_the_agent_does_not_know_has_no_series) {
  const SystemClock clock;
  const auto agents = open_agents(cluster.settings(), clock);
  const auto watch = agents->watch("n1", std::string(64, 'd'));
  ASSERT_TRUE(watch);
  MemorySeries kept;
  EXPECT_FALSE((*watch)->look(kept).value());
  EXPECT_TRUE(kept.list().empty());
  const auto nobody = agents->watch("n2", kId);
  ASSERT_FALSE(nobody);
  EXPECT_NE(nobody.error().message.find("there is no agent of Assay on n2"), std::string::npos);
}

TEST_F(JobsTest, an_agent_that_is_not_found_again_holds_up_nobody) {
  const SystemClock clock;
  auto settings = cluster.settings();
  settings.agent_patience = Milliseconds(200);
  const auto agents = open_agents(settings, clock);
  const auto watch = agents->watch("n1", kId);
  ASSERT_TRUE(watch);
  std::promise<void> enough;
  cluster.set_pods("pod-1", "agent-2");
  cluster.answer_instead(
      [&](const net::ServerRequest& request) -> std::optional<net::ServerResponse> {
        if (request.path == "/api/v1/namespaces/assay/pods") enough.get_future().wait();
        return std::nullopt;
      });
  const auto begin = std::chrono::steady_clock::now();
  MemorySeries kept;
  EXPECT_FALSE((*watch)->look(kept));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
  enough.set_value();
}

TEST_F(JobsTest, without_an_agent_nothing_starts) {
  cluster.has_agent = false;
  const auto app = start(cluster.settings());
  ASSERT_FALSE(app);
  EXPECT_NE(app.error().message.find("kubectl apply -k deploy/kubernetes"), std::string::npos);
  EXPECT_TRUE(cluster.asked("POST").empty());
}

TEST_F(JobsTest, an_image_that_is_not_there_is_told_and_its_job_deleted) {
  cluster.set_state(R"({"waiting": {"reason": "ErrImagePull", "message": "not found"}})");
  const auto app = start(cluster.settings());
  ASSERT_FALSE(app);
  EXPECT_EQ(app.error().message, "image waggle/app:1 cannot run on n1: ErrImagePull: not found");
  EXPECT_EQ(app.error().kind, ErrorKind::environment);
  EXPECT_EQ(cluster.asked("DELETE").size(), 1);
}

TEST_F(JobsTest, a_quota_that_refuses_is_told) {
  cluster.has_pod = false;
  cluster.event = "exceeded quota: q";
  const auto app = start(cluster.settings());
  ASSERT_FALSE(app);
  EXPECT_EQ(app.error().message, "the cluster makes no pod for the Job: exceeded quota: q");
  EXPECT_EQ(cluster.asked("DELETE").size(), 1);
}

TEST_F(JobsTest, a_pod_that_waits_too_long_is_given_up) {
  cluster.set_state(R"({"waiting": {"reason": "ContainerCreating"}})");
  auto settings = cluster.settings();
  settings.start_patience = Milliseconds(300);
  const auto app = start(settings);
  ASSERT_FALSE(app);
  EXPECT_EQ(app.error().message, "the app did not start on n1 within 300 ms: ContainerCreating");
  EXPECT_EQ(cluster.asked("DELETE").size(), 1);
}

TEST_F(JobsTest, whoever_has_no_patience_leaves_no_job) {
  cluster.set_state(R"({"waiting": {"reason": "ContainerCreating"}})");
  std::string told;
  const auto app = start(cluster.settings(), [&](const std::string& what) {
    told = what;
    return what != "n1: ContainerCreating";
  });
  ASSERT_FALSE(app);
  EXPECT_EQ(told, "n1: ContainerCreating");
  EXPECT_EQ(cluster.asked("DELETE").size(), 1);
}

TEST_F(JobsTest, an_app_that_is_stopped_loses_its_job) {
  auto app = start(cluster.settings());
  ASSERT_TRUE(app) << app.error().message;
  (*app)->stop(StopStep::interrupt);
  ASSERT_TRUE(ends(**app));
  EXPECT_GE(cluster.asked("DELETE").size(), 1);
  EXPECT_EQ((*app)->release().detail,
            "ended when asked to; its pod was gone before its exit code was read");
}

TEST_F(JobsTest, an_app_that_is_forgotten_loses_its_job) {
  {
    const auto app = start(cluster.settings());
    ASSERT_TRUE(app) << app.error().message;
  }
  EXPECT_EQ(cluster.asked("DELETE").size(), 1);
}

TEST_F(JobsTest, only_jobs_of_dead_sessions_of_this_machine_are_cleaned_up) {
  const Owner self = Owner::self(SysRoot());
  Owner dead = self;
  dead.pid = 1 << 22;
  const auto job = [](const std::string& name, const Owner& owner, const std::string& machine) {
    return Plain{
        {"metadata",
         {{"name", name},
          {"namespace", "team"},
          {"uid", name},
          {"labels", {{"assay.dev/session", "s"}}},
          {"annotations", {{"assay.dev/owner", owner.text()}, {"assay.dev/machine", machine}}}}}};
  };
  cluster.jobs = Plain::array({job("ours", self, machine_name(SysRoot(), self)),
                               job("left", dead, machine_name(SysRoot(), self)),
                               job("others", dead, "another")})
                     .dump();
  const auto lines = open_jobs(cluster.settings())->clean_up();
  ASSERT_TRUE(lines) << lines.error().message;
  EXPECT_EQ(*lines, (std::vector<std::string>{"deleted Job left of session s"}));
  EXPECT_EQ(cluster.asked("DELETE"),
            (std::vector<std::string>{"DELETE /apis/batch/v1/namespaces/team/jobs/left"}));
}

}  // namespace
}  // namespace assay::launch
