// SPDX-License-Identifier: Apache-2.0
#include "testing/http_server.h"
#include "testing/prometheus.h"
#include "testing/temp_folder.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <fstream>

#include <assay/promapi/query.h>
#include <gtest/gtest.h>

namespace assay::promapi {
namespace {

TEST(ParseInstant, series_with_labels_and_values) {
  const auto answer = parse_instant(
      R"({"status": "success", "warnings": ["partly"], "data": {"resultType": "vector", "result": [
          {"metric": {"instance": "a:9100"}, "value": [1435781451.781, "12.5"]},
          {"metric": {}, "value": [1, "+Inf"]}, {"metric": {}, "value": [1, "NaN"]}]}})",
      "p");
  ASSERT_TRUE(answer) << answer.error().message;
  ASSERT_EQ(answer->series.size(), 3U);
  EXPECT_EQ(answer->series[0].label("instance"), "a:9100");
  EXPECT_EQ(answer->series[0].label("job"), "");
  EXPECT_EQ(answer->series[0].value, 12.5);
  EXPECT_TRUE(std::isinf(answer->series[1].value));
  EXPECT_TRUE(std::isnan(answer->series[2].value));
  EXPECT_EQ(answer->warnings, std::vector<std::string>{"partly"});
}

TEST(ParseRange, a_question_that_makes_no_sense_is_bad_input) {
  const auto kind = [](const char* type) {
    const auto body = std::string(R"({"status": "error", "error": "x", "errorType": ")") + type;
    return parse_range(body + "\"}", "p").error().kind;
  };
  EXPECT_EQ(kind("bad_data"), ErrorKind::input);
  EXPECT_EQ(kind("execution"), ErrorKind::environment);
  EXPECT_EQ(kind("timeout"), ErrorKind::environment);
}

TEST(ParseInstant, what_is_no_answer_is_an_error_in_words) {
  const auto message = [](const char* body) { return parse_instant(body, "p").error().message; };
  EXPECT_EQ(message(R"({"status": "error", "error": "parse error: x"})"), "p: parse error: x");
  EXPECT_EQ(message("<html>"), "p: this is no Prometheus");
  EXPECT_EQ(message("[]"), "p: this is no Prometheus");
  EXPECT_EQ(message(R"({"status": "success", "data": {"resultType": "matrix", "result": []}})"),
            "p: this is no Prometheus");
  EXPECT_EQ(message(R"({"status": "success", "data": {"resultType": "vector", "result": [
                       {"metric": {"a": 1}, "value": [1, "2"]}]}})"),
            "p: a series of its answer is none");
}

TEST(ParseRange, series_with_their_samples) {
  const auto answer = parse_range(
      R"({"status": "success", "data": {"resultType": "matrix", "result": [
          {"metric": {"pod": "a"}, "values": [[1435781451.781, "12.5"], [1435781466.781, "NaN"]]},
          {"metric": {"pod": "b"}, "values": []}]}})",
      "p");
  ASSERT_TRUE(answer) << answer.error().message;
  ASSERT_EQ(answer->series.size(), 2U);
  ASSERT_EQ(answer->series[0].samples.size(), 2U);
  EXPECT_EQ(answer->series[0].samples[0].first, from_unix_ns(1435781451781000000));
  EXPECT_EQ(answer->series[0].samples[0].second, 12.5);
}

TEST(ParseRange, what_is_no_answer_is_an_error_in_words) {
  for (const char* series :
       {R"(7)", R"({"metric": {}})", R"({"metric": {}, "values": [[1]]})",
        R"({"metric": {}, "values": [["1", "2"]]})", R"({"metric": {}, "values": [[1e300, "2"]]})",
        R"({"metric": {}, "values": [[2, "2"], [1, "2"]]})"}) {
    const auto answer = parse_range(
        std::string(R"({"status": "success", "data": {"resultType": "matrix", "result": [)") +
            series + "]}}",
        "p");
    ASSERT_FALSE(answer) << series;
    EXPECT_EQ(answer.error().message, "p: a series of its answer is none");
  }
}

TEST(Queries, a_long_range_comes_in_pieces_without_a_seam) {
  const testing::TempFolder folder;
  testing::Prometheus prometheus(folder.path());
  ASSERT_TRUE(prometheus.start());
  Queries queries({.url = prometheus.base()});
  const Timestamp from = from_unix_ns(1'700'000'000'000'000'000);
  const auto answer = queries.range(
      "time() % 97", {from, from + std::chrono::seconds(24'999), std::chrono::seconds(1)});
  ASSERT_TRUE(answer) << answer.error().message;
  ASSERT_EQ(answer->series.size(), 1U);
  const auto& samples = answer->series[0].samples;
  ASSERT_EQ(samples.size(), 25'000U);
  for (size_t i = 0; i < samples.size(); ++i) {
    ASSERT_EQ(samples[i].first, from + std::chrono::seconds(i));
    ASSERT_EQ(samples[i].second, static_cast<double>((1'700'000'000 + i) % 97));
  }
  EXPECT_FALSE(
      queries.range("up", {from, from - std::chrono::seconds(1), std::chrono::seconds(1)}));
  EXPECT_FALSE(
      queries.range("up", {from, from + std::chrono::hours(9000), std::chrono::milliseconds(1)}));
}

TEST(Queries, ask_a_real_prometheus) {
  const testing::TempFolder folder;
  testing::Prometheus prometheus(folder.path());
  ASSERT_TRUE(prometheus.start());
  Queries queries({.url = prometheus.base() + "/"});
  const auto answer = queries.instant(R"(label_replace(vector(7), "node", "pi 4", "", ""))");
  ASSERT_TRUE(answer) << answer.error().message;
  ASSERT_EQ(answer->series.size(), 1U);
  EXPECT_EQ(answer->series[0].value, 7);
  EXPECT_EQ(answer->series[0].label("node"), "pi 4");
  const auto wrong = queries.instant("rate(");
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().message.find("parse error"), std::string::npos) << wrong.error().message;
}

TEST(Queries, say_who_asks_as_their_files_have_it_at_that_moment) {
  const testing::TempFolder folder;
  std::string heard;
  const auto server = net::testing::HttpServer::on_loopback([&](auto& connection) {
    for (auto request = connection.read_request(); !request.empty();
         request = connection.read_request()) {
      const auto at = request.find("Authorization: ");
      heard = at == request.npos ? "nobody" : request.substr(at, request.find("\r\n", at) - at);
      connection.write("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n");
    }
  });
  const auto said = [&](PrometheusAccess access) {
    access.url = server->base();
    const auto answer = Queries(std::move(access)).instant("up");
    EXPECT_NE(answer.error().message.find("wants to know who asks (401)"), std::string::npos);
    return heard;
  };
  const auto file = folder.path() / "who";
  EXPECT_EQ(said({}), "nobody");
  for (const char* token : {"abc", "def"}) {
    std::ofstream(file) << token << "\n";
    EXPECT_EQ(said({.bearer_token_file = file}), fmt::format("Authorization: Bearer {}", token));
  }
  std::ofstream(file) << "ann:sea\n";
  EXPECT_EQ(said({.basic_auth_file = file}), "Authorization: Basic YW5uOnNlYQ==");
}

TEST(Queries, ask_a_real_prometheus_behind_tls) {
  const testing::TempFolder folder;
  const std::string make = fmt::format(
      "cd {} && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 "
      "-subj /CN=prometheus -addext subjectAltName=IP:127.0.0.1 -keyout key.pem -out cert.pem "
      ">log 2>&1",
      folder.path().native());
  ASSERT_EQ(std::system(make.c_str()), 0) << make;
  std::ofstream(folder.path() / "web.yml")
      << "tls_server_config: {cert_file: cert.pem, key_file: key.pem}\n";
  testing::Prometheus prometheus(folder.path());
  ASSERT_TRUE(prometheus.start());
  const auto ask = [&](const char* authority) {
    return Queries({.url = prometheus.base(), .ca_file = folder.path() / authority})
        .instant("vector(7)");
  };
  const auto answer = ask("cert.pem");
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->series.at(0).value, 7);
  EXPECT_FALSE(Queries({.url = prometheus.base()}).instant("vector(7)")) << "nobody trusts it";
}

TEST(Queries, a_refusal_of_what_stands_before_it_is_told_by_its_status) {
  const auto error_of = [](const std::string& status, const std::string& body) {
    const auto server = net::testing::HttpServer::on_loopback([&](auto& connection) {
      connection.read_request();
      connection.write(
          fmt::format("HTTP/1.1 {}\r\nContent-Length: {}\r\n\r\n{}", status, body.size(), body));
    });
    const auto error = Queries({.url = server->base()}).instant("up").error();
    const auto told = std::min(error.message.find(" answers"), error.message.size());
    return fmt::format("{} ({})", error.message.substr(told),
                       error.temporary ? "for now" : "for good");
  };
  EXPECT_EQ(error_of("503 Unavailable", "<html>"), " answers with status 503 (for now)");
  EXPECT_EQ(error_of("404 Not Found", "page not found"), " answers with status 404 (for good)");
  EXPECT_EQ(error_of("503 Unavailable", R"({"kind": "Status", "code": 503})"),
            " answers with status 503 (for now)");
  const std::string own = R"({"status": "error", "error": "it answers nobody"})";
  EXPECT_EQ(error_of("503 Unavailable", own), " answers nobody (for good)");
}

TEST(Queries, nobody_there_is_told_by_address) {
  Queries queries({.url = "http://127.0.0.1:1", .timeout = Milliseconds(2000)});
  const auto answer = queries.instant("up");
  ASSERT_FALSE(answer);
  EXPECT_TRUE(answer.error().message.starts_with("Prometheus at http://127.0.0.1:1: "))
      << answer.error().message;
}

}  // namespace
}  // namespace assay::promapi
