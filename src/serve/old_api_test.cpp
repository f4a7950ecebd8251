// SPDX-License-Identifier: Apache-2.0
#include "old_api.h"

#include "testing/service.h"

namespace assay::serve {
namespace {

using net::ServerRequest;
using net::ServerResponse;
using nlohmann::json;

constexpr const char* kCall =
    R"({"model": "resnet", "conv_layers": 53, "pool_layers": 2, "fc_layers": 1,
        "filter_details": 26560, "total_parameters": 25557032, "model_input_size": 602112,
        "model_output_size": 4000})";

class OldApiTest : public testing::ServiceTest {
 protected:
  OldApi& api() {
    if (!api_) api_ = std::make_unique<OldApi>(state(), *uploads_, clock_, settings_);
    return *api_;
  }
  /// As the server does: by its head, by the body's size, by its body, and at last in another
  /// thread.
  ServerResponse ask(ServerRequest request) {
    auto plan = api().plan(request);
    if (plan.refusal) return *plan.refusal;
    if (!plan.folder.empty()) {
      request.body_file = body_file(request.body);
      request.body.clear();
    }
    const auto response = api().answer(request);
    return response.later ? response.later() : response;
  }
  ServerResponse profile(const std::string& body) {
    ServerRequest request;
    request.method = "POST";
    request.path = "/api/profiling";
    request.body = body;
    return ask(request);
  }
  ServerResponse upload(const std::string& file, const std::string& more) {
    ServerRequest request;
    request.method = "POST";
    request.path = "/upload";
    request.content_type = "multipart/form-data; boundary=xyz";
    request.body =
        "--xyz\r\nContent-Disposition: form-data; name=\"file\"; filename=\"net.onnx\"\r\n\r\n" +
        file + "\r\n" + more + "--xyz--\r\n";
    return ask(request);
  }
  static std::string field(const std::string& name, const std::string& value) {
    return "--xyz\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + value +
           "\r\n";
  }
  static std::string message(const ServerResponse& response) {
    const auto document = json::parse(response.body);
    EXPECT_EQ(document["status"], "error");
    return document["message"];
  }
  const std::string sizes_ =
      field("model_input_size", "49152") + field("model_output_size", "4000");

  ManualClock clock_{Timestamp(std::chrono::hours(24))};
  std::unique_ptr<OldApi> api_;
};

TEST_F(OldApiTest, counts_get_a_device_and_a_time) {
  const auto response = profile(kCall);
  ASSERT_EQ(response.status, 200) << response.body;
  const auto answer = json::parse(response.body);
  EXPECT_EQ(answer["status"], "success");
  EXPECT_EQ(answer["message"], "Profiling data received");
  EXPECT_EQ(answer["model_characteristics"], json::parse(kCall));
  const auto& told = answer["profiling_prediction"];
  ASSERT_EQ(told.size(), 6U);
  EXPECT_EQ(told["node"], "server");
  EXPECT_EQ(told["node_uuid"], "u-server");
  EXPECT_EQ(told["model"], "resnet");
  EXPECT_EQ(told["class"], "");
  EXPECT_EQ(told["device_model"], "");
  EXPECT_GT(told["predicted_execution_time"].get<double>(), 0);
}

TEST_F(OldApiTest, a_busy_device_is_told_to_take_longer) {
  const auto seconds = [this] {
    const auto told = json::parse(profile(kCall).body)["profiling_prediction"];
    EXPECT_EQ(told["node"], "server");
    return told["predicted_execution_time"].get<double>();
  };
  const double idle = seconds();
  api_.reset();
  state_.reset();
  settings_.loads = {{"server", .9}};
  EXPECT_GT(seconds(), 1.5 * idle);
}

TEST_F(OldApiTest, numbers_beyond_all_that_was_learned_come_back_as_they_were_sent) {
  const std::string body =
      R"({"model":"x","conv_layers":66666666,"pool_layers":0,"fc_layers":0,"filter_details":0,)"
      R"("total_parameters":10000000000000000001,"model_input_size":1e300,"model_output_size":0})";
  const auto response = profile(body);
  ASSERT_EQ(response.status, 200) << response.body;
  EXPECT_NE(response.body.find("\"model_characteristics\": " + body), std::string::npos);
  const double seconds =
      json::parse(response.body)["profiling_prediction"]["predicted_execution_time"];
  EXPECT_GT(seconds, 0);
  EXPECT_TRUE(std::isfinite(seconds));
}

TEST_F(OldApiTest, a_byte_order_mark_does_not_come_back) {
  const auto response = profile(std::string("\xEF\xBB\xBF") + kCall);
  ASSERT_EQ(response.status, 200) << response.body;
  EXPECT_EQ(json::parse(response.body)["model_characteristics"], json::parse(kCall));
}

TEST_F(OldApiTest, web_pages_may_not_ask) {
  ServerRequest request;
  request.method = "POST";
  request.path = "/api/profiling";
  request.page = "http://elsewhere.example";
  request.body = kCall;
  EXPECT_EQ(ask(request).status, 403);
}

TEST_F(OldApiTest, a_model_that_cannot_be_placed_is_not_kept) {
  std::filesystem::remove(settings_.model_file);
  EXPECT_EQ(upload(model(), sizes_).status, 503);
  EXPECT_EQ(kept(), 0U);
}

TEST_F(OldApiTest, wrong_calls_are_refused_in_words) {
  EXPECT_EQ(profile("{").status, 400);
  EXPECT_EQ(message(profile(R"({"model": "x"})")), "the field 'conv_layers' is missing");
  ServerRequest request;
  request.method = "GET";
  request.path = "/api/profiling";
  EXPECT_EQ(ask(request).status, 405);
  request.path = "/api/v1/placements";
  EXPECT_EQ(ask(request).status, 404);
}

TEST_F(OldApiTest, an_uploaded_model_is_counted_placed_and_kept) {
  const auto response = upload(model(), sizes_);
  ASSERT_EQ(response.status, 201) << response.body;
  const auto answer = json::parse(response.body);
  EXPECT_EQ(answer["status"], "success");
  EXPECT_EQ(answer["model_characteristics"]["conv_layers"], 26);
  EXPECT_EQ(answer["model_characteristics"]["model_input_size"], 49152);
  EXPECT_EQ(answer["profiling_prediction"]["node"], "server");
  const std::filesystem::path file = answer["filepath"];
  EXPECT_TRUE(file.filename().native().ends_with("-net.onnx")) << file;
  EXPECT_EQ(read_file(file).value_or(""), model());
  EXPECT_EQ(kept(), 1U);  // the body's file is gone
}

TEST_F(OldApiTest, a_wrong_upload_is_refused_and_leaves_nothing) {
  EXPECT_EQ(upload("no model", sizes_).status, 400);
  EXPECT_EQ(message(upload("", sizes_)), "the field 'file' is missing, or the file is empty");
  EXPECT_EQ(message(upload(model(), "")), "the field 'model_input_size' is missing");
  EXPECT_EQ(message(upload(model(), field("model_input_size", "-5"))),
            "the field 'model_input_size' must be a number of at least 0");
  EXPECT_EQ(message(upload(model(), field("model_input_size", "many"))),
            "the field 'model_input_size' must be a number of at least 0");
  EXPECT_EQ(kept(), 0U);
}

TEST_F(OldApiTest, too_large_uploads_are_refused_by_their_head) {
  ServerRequest request;
  request.method = "POST";
  request.path = "/upload";
  EXPECT_EQ(api().plan(request).body_bytes, settings_.largest_upload);
  request.path = "/api/profiling";
  EXPECT_EQ(api().plan(request).body_bytes, 64U << 10U);
}

TEST_F(OldApiTest, one_caller_may_not_ask_all_the_time) {
  settings_.old_rate = 2;
  int refused = 0;
  for (int i = 0; i < 10; ++i) refused += profile(kCall).status == 429 ? 1 : 0;
  EXPECT_EQ(refused, 6);
}

TEST_F(OldApiTest, a_network_of_addresses_is_one_caller) {
  settings_.old_rate = 2;
  ServerRequest request;
  request.method = "POST";
  request.path = "/api/profiling";
  request.body = kCall;
  int refused = 0;
  for (int i = 0; i < 10; ++i) {
    request.address = "2001:db8::" + std::to_string(i);
    refused += ask(request).status == 429 ? 1 : 0;
  }
  EXPECT_EQ(refused, 6);
}

TEST_F(OldApiTest, nothing_learned_is_said_with_what_to_do) {
  std::filesystem::remove(settings_.model_file);
  const auto response = profile(kCall);
  EXPECT_EQ(response.status, 503);
  EXPECT_NE(message(response).find("make it with 'assay train'"), std::string::npos);
}

TEST_F(OldApiTest, no_prometheus_is_said) {
  settings_.prometheus.url = "http://127.0.0.1:1";
  const auto response = profile(kCall);
  EXPECT_EQ(response.status, 503);
  EXPECT_TRUE(message(response).starts_with("Prometheus at http://127.0.0.1:1: "));
}

}  // namespace
}  // namespace assay::serve
