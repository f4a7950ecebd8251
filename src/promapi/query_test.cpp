// SPDX-License-Identifier: Apache-2.0
#include "testing/prometheus.h"
#include "testing/temp_folder.h"

#include <cmath>

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

TEST(Queries, nobody_there_is_told_by_address) {
  Queries queries({.url = "http://127.0.0.1:1", .timeout = Milliseconds(2000)});
  const auto answer = queries.instant("up");
  ASSERT_FALSE(answer);
  EXPECT_TRUE(answer.error().message.starts_with("Prometheus at http://127.0.0.1:1: "))
      << answer.error().message;
}

}  // namespace
}  // namespace assay::promapi
