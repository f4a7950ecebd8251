// SPDX-License-Identifier: Apache-2.0
#include "api.h"

#include "testing/service.h"

#include <condition_variable>
#include <mutex>

namespace assay::serve {
namespace {

using net::ServerRequest;
using net::ServerResponse;
using nlohmann::json;

/// A host whose workers take a tenth of a second.
class SteadyHost final : public placement::WorkerHost {
 public:
  explicit SteadyHost(std::string& started) : started_(started) {}
  Result<void> start(const placement::WorkerPlan& plan) override {
    started_ += plan.model + " of " + plan.image + " on " + plan.node + " with " +
                plan.env.at("ASSAY_SHAPES") + " and " + plan.env.at("ASSAY_THREADS") + " threads\n";
    return {};
  }
  Result<bool> serves() override { return true; }
  Result<std::string> run(const std::string&, Milliseconds) override {
    return std::string(R"({"engine": "opencv", "times": [0.1, 0.1, 0.1, 0.1, 0.1]})");
  }
  std::string address() const override { return "http://127.0.0.1:1"; }
  Result<void> end() override { return {}; }

 private:
  std::string& started_;
};

class ApiTest : public testing::ServiceTest {
 protected:
  ServerResponse ask(ServerRequest request) {
    const Api api(state(), *uploads_, "a-token-for-tests", settings_);
    auto plan = api.plan(request);
    if (plan.refusal) return *plan.refusal;
    if (!plan.folder.empty()) {
      request.body_file = body_file(request.body);
      request.body.clear();
    }
    const auto response = api.answer(request);
    return response.later ? response.later() : response;
  }
  static ServerRequest call(const std::string& method, const std::string& path,
                            const std::string& body = "") {
    ServerRequest request;
    request.method = method;
    request.path = path;
    request.body = body;
    request.authorization = "Bearer a-token-for-tests";
    return request;
  }
  json placements(const json& body) {
    const auto response = ask(call("POST", "/api/v1/placements", body.dump()));
    EXPECT_EQ(response.status, 200) << response.body;
    return json::parse(response.body)["placements"];
  }
  std::string problem_of(const json& body) {
    const auto response = ask(call("POST", "/api/v1/placements", body.dump()));
    EXPECT_EQ(response.status, 422) << response.body;
    EXPECT_EQ(response.content_type, "application/problem+json");
    return json::parse(response.body)["detail"];
  }
  static json counts(const std::string& name = "net", double parameters = 1e6) {
    return {{"model", name},
            {"conv_layers", 20},
            {"pool_layers", 1},
            {"fc_layers", 0},
            {"filter_details", 1280},
            {"total_parameters", parameters},
            {"model_input_size", 602112},
            {"model_output_size", 4000}};
  }
};

TEST_F(ApiTest, takes_a_token) {
  auto request = call("POST", "/api/v1/placements", "{}");
  for (const char* wrong : {"", "Bearer ", "Bearer a-token-for-testz", "Basic a-token-for-tests"}) {
    request.authorization = wrong;
    EXPECT_EQ(ask(request).status, 401) << wrong;
  }
  request = call("GET", "/healthz");
  request.authorization = "";
  EXPECT_EQ(ask(request).status, 200);
  EXPECT_EQ(ask(call("GET", "/api/v1/placements")).status, 405);
  EXPECT_EQ(ask(call("GET", "/nowhere")).status, 404);
}

TEST_F(ApiTest, a_model_by_its_counts_is_ranked_with_quantiles_and_reasons) {
  const auto list = placements({{"models", {counts()}}});
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(list[0]["model"], "net");
  EXPECT_EQ(list[0]["node"], "server");
  ASSERT_EQ(list[0]["devices"].size(), 2U);
  const auto& best = list[0]["devices"][0];
  EXPECT_EQ(best["node"], "server");
  EXPECT_LT(best["quantiles"]["0.1"], best["quantiles"]["0.5"]);
  EXPECT_LT(best["quantiles"]["0.5"], best["quantiles"]["0.9"]);
  EXPECT_EQ(best["memory_needed_bytes"], nullptr);
  EXPECT_NE(list[0]["devices"][1]["reason"].get<std::string>().find("times as long as server"),
            std::string::npos);
}

TEST_F(ApiTest, counts_beyond_all_that_was_learned_are_told_with_doubt) {
  const auto list = placements({{"models", {counts("huge", 1e19)}}});
  EXPECT_TRUE(list[0]["devices"][0]["doubt"].is_string()) << list.dump(1);
}

TEST_F(ApiTest, a_model_that_was_sent_is_placed_by_all_that_it_is) {
  auto request = call("POST", "/api/v1/models", model());
  request.query = "name=squeeze.onnx";
  const auto response = ask(request);
  ASSERT_EQ(response.status, 201) << response.body;
  const auto sent = json::parse(response.body);
  EXPECT_EQ(sent["model"], "squeeze.onnx");
  EXPECT_EQ(sent["conv_layers"], 26);
  EXPECT_GT(sent["workload"]["macs_conv1x1"], 0);
  const auto list = placements({{"models", {{{"id", sent["id"]}}}}});
  EXPECT_EQ(list[0]["model"], "squeeze.onnx");
  EXPECT_GT(list[0]["devices"][0]["memory_needed_bytes"], 0);
  EXPECT_EQ(problem_of({{"models", {{{"id", "0123456789abcdef"}}}}}),
            "no model with the id '0123456789abcdef' is kept here; send it again");
}

TEST_F(ApiTest, what_is_no_model_is_refused) {
  const auto response = ask(call("POST", "/api/v1/models", "no model"));
  EXPECT_EQ(response.status, 422) << response.body;
  EXPECT_EQ(kept(), 0U);
}

TEST_F(ApiTest, loads_and_goals_of_a_call_count) {
  const auto idle = placements({{"models", {counts()}}});
  const auto busy = placements({{"models", {counts()}}, {"loads", {{"server", .9}}}});
  EXPECT_GT(busy[0]["devices"][0]["seconds"], idle[0]["devices"][0]["seconds"]);
  EXPECT_EQ(busy[0]["devices"][0]["load"], .9);
  const auto missed = placements({{"models", {counts()}}, {"goals", {{"latency_seconds", 1e-9}}}});
  EXPECT_EQ(missed[0]["devices"][0]["goals_missed"].size(), 1U);
}

TEST_F(ApiTest, wrong_calls_are_named) {
  EXPECT_EQ(problem_of(json::object()), "'models' must be a list of 1 to 64 models");
  EXPECT_EQ(problem_of({{"models", {counts()}}, {"goal", 1}}),
            "the body: unknown field 'goal'; did you mean 'goals'?");
  EXPECT_EQ(problem_of({{"models", {counts()}}, {"loads", {{"server", 2}}}}),
            "the load of 'server' must be a share from 0 to 1");
  EXPECT_EQ(problem_of({{"models", {counts()}}, {"loads", {{"sever", .5}}}}),
            "a load is given for 'sever', which is no known node");
  EXPECT_EQ(problem_of({{"models", {counts()}}, {"goals", {{"keep_free", 50}}}}),
            "'keep_free' must be a number above 0 and at most 1");
  EXPECT_TRUE(problem_of({{"models", {counts()}}, {"engine", "tensorrt"}})
                  .starts_with("nothing was learned of an engine 'tensorrt'; known: "));
  EXPECT_EQ(problem_of({{"models", {counts()}}, {"engine", 1}}),
            "'engine' must be the name of one");
  EXPECT_EQ(problem_of({{"models", {{{"id", "a"}, {"model", std::string(1001, 'm')}}}}}),
            "the name of a model has at most 1000 characters");
  json wrong = counts();
  wrong["conv_layers"] = "many";
  EXPECT_EQ(problem_of({{"models", {wrong}}}),
            "the field 'conv_layers' must be a number, not text");
  for (const json& id : {json(""), json(5)})
    EXPECT_EQ(problem_of({{"models", {{{"id", id}}}}}),
              "the 'id' of a model must be the text that it got when it was sent");
}

TEST_F(ApiTest, a_body_of_many_levels_is_refused_like_any_other) {
  const std::string levels(400000, '[');
  const auto response =
      ask(call("POST", "/api/v1/placements",
               R"({"models": [{"x": )" + levels + std::string(400000, ']') + "}]}"));
  EXPECT_EQ(response.status, 422) << response.body;
}

TEST_F(ApiTest, devices_are_listed) {
  const auto answer = json::parse(ask(call("GET", "/api/v1/devices")).body);
  ASSERT_EQ(answer["devices"].size(), 2U);
  EXPECT_EQ(answer["devices"][0]["node"], "board");
  EXPECT_EQ(answer["devices"][0]["device_model"], "Board 4");
}

TEST_F(ApiTest, a_device_that_is_calibrated_later_is_told_too) {
  std::mutex mutex;
  std::condition_variable asked_again;
  int calls = 0;
  auto board = predict::testing::calibrated(predict::testing::kKnownDevices[0]);
  board.name = "new board";
  settings_.interval = Milliseconds(1);
  settings_.find_devices = [&]() -> Result<std::vector<predict::Device>> {
    const std::lock_guard lock(mutex);
    asked_again.notify_all();
    if (++calls == 1) return std::vector<predict::Device>();
    return std::vector{board};
  };
  EXPECT_EQ(json::parse(ask(call("GET", "/api/v1/devices")).body)["devices"].size(), 2U);
  {
    std::unique_lock lock(mutex);
    // At the third call what the second said was taken.
    EXPECT_TRUE(asked_again.wait_for(lock, std::chrono::seconds(30), [&] { return calls >= 3; }));
  }
  EXPECT_NE(ask(call("GET", "/api/v1/devices")).body.find("new board"), std::string::npos);
  state_.reset();
}

TEST_F(ApiTest, is_ready_when_something_was_learned) {
  EXPECT_EQ(ask(call("GET", "/readyz")).status, 200);
  state_.reset();
  ASSERT_TRUE(write_file(settings_.model_file, "{}"));
  EXPECT_EQ(ask(call("GET", "/readyz")).status, 503);
}

TEST_F(ApiTest, starts_no_models_unless_its_operator_lets_it) {
  const auto response = ask(
      call("POST", "/api/v1/placements", json{{"models", {counts()}}, {"deploy", true}}.dump()));
  EXPECT_EQ(response.status, 403) << response.body;
  EXPECT_EQ(problem_of({{"models", {counts()}}, {"deploy", {{"image", "mine"}}}}),
            "'deploy' must be true or false");
}

TEST_F(ApiTest, starts_models_where_they_should_go_and_keeps_what_they_took) {
  std::string started;
  settings_.deploy_image = "lab/worker:1";
  settings_.placed_table = folder_ / "placed.csv";
  settings_.find_host =
      [&](const std::string&,
          const placement::Wanted&) -> Result<std::unique_ptr<placement::WorkerHost>> {
    return std::make_unique<SteadyHost>(started);
  };
  const auto sent = json::parse(ask(call("POST", "/api/v1/models", model())).body);
  const auto placed = placements(
      {{"models", {{{"id", sent["id"]}, {"model", "net.onnx"}}, counts()}}, {"deploy", true}});
  const json& deployed = placed[0]["deployed"];
  EXPECT_EQ(deployed["measured_seconds"], 0.1) << placed[0];
  EXPECT_EQ(started, "net of lab/worker:1 on " + placed[0]["node"].get<std::string>() +
                         " with {\"image\":[1,3,64,64]} and 2 threads\n");
  EXPECT_EQ(placed[1]["deployed"]["error"], "only a model that was sent can be started");
  const std::string table = read_file(settings_.placed_table).value();
  EXPECT_NE(table.find("\nnet,net,opencv,"), std::string::npos) << table;
  EXPECT_FALSE(placements({{"models", {counts()}}})[0].contains("deployed"));
}

TEST_F(ApiTest, lists_what_was_started) {
  EXPECT_EQ(ask(call("GET", "/api/v1/deployments")).status, 403);
  settings_.deploy_image = "lab/worker:1";
  settings_.list_workers = [](const placement::Wanted&) -> Result<placement::Workers> {
    placement::Workers workers;
    workers.add({{"assay-net-1", "net", "board", placement::Worker::State::running, {}}});
    return workers;
  };
  const auto response = ask(call("GET", "/api/v1/deployments"));
  ASSERT_EQ(response.status, 200) << response.body;
  EXPECT_EQ(json::parse(response.body)["deployments"], json::array({{{"worker", "assay-net-1"},
                                                                     {"model", "net"},
                                                                     {"node", "board"},
                                                                     {"state", "running"},
                                                                     {"since", nullptr}}}));
  auto stranger = call("GET", "/api/v1/deployments");
  stranger.authorization.clear();
  EXPECT_EQ(ask(stranger).status, 401);
  settings_.list_workers = [](const placement::Wanted&) -> Result<placement::Workers> {
    return refused("no container daemon is there");
  };
  EXPECT_EQ(ask(call("GET", "/api/v1/deployments")).status, 503);
}

TEST_F(ApiTest, what_is_being_started_is_given_up_when_the_service_stops) {
  placement::Wanted given;
  settings_.find_host =
      [&](const std::string&,
          const placement::Wanted& wanted) -> Result<std::unique_ptr<placement::WorkerHost>> {
    given = wanted;
    return refused("no host");
  };
  model();
  Deployments deployments(settings_);
  placement::PlacingOrder order;
  order.file = folder_ / "made.onnx";
  EXPECT_EQ(deployments.deploy(order)["error"], "no host");
  ASSERT_TRUE(given);
  EXPECT_TRUE(given());
  deployments.stop();
  EXPECT_FALSE(given());
  given = {};
  EXPECT_EQ(deployments.deploy(order)["error"], "interrupted");
  EXPECT_FALSE(given) << "nothing more was begun";
}

}  // namespace
}  // namespace assay::serve
