// SPDX-License-Identifier: Apache-2.0
#include "testing/sample_views.h"

#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

namespace assay::report {
namespace {

constexpr std::string_view kOpen = "<script type=\"application/json\" id=\"data\">";

Json data_of(const std::string& page) {
  const size_t from = page.find(kOpen) + kOpen.size();
  return Json::parse(page.substr(from, page.find("</script>", from) - from));
}

TEST(HtmlPage, holds_document_and_samples) {
  const Json data = data_of(html_page(testing::small_view()).value());
  EXPECT_EQ(data["document"], session_document(testing::small_view()));
  EXPECT_EQ(data["words"][0]["label"], "run 1");
  EXPECT_EQ(data["words"][0]["goal_values"], (Json::array({"12.4", "224 ms", "never reported"})));
  const Json& cpu = data["series"][0][0];
  EXPECT_EQ(cpu["name"], "cpu_cores");
  EXPECT_EQ(cpu["unit"], "cores");
  EXPECT_EQ(cpu["t"], (Json::array({0.1, 0.2})));
  EXPECT_EQ(cpu["v"], (Json::array({2, 2})));
}

TEST(HtmlPage, holds_the_last_words_of_a_failed_run_alone) {
  const Json failed = data_of(html_page(testing::failed_view()).value());
  EXPECT_EQ(failed["words"][0]["last_words"], "Traceback:\n  no camera <found>");
  const Json fine = data_of(html_page(testing::small_view()).value());
  EXPECT_FALSE(fine["words"][0].contains("last_words"));
}

TEST(HtmlPage, is_one_file_that_asks_for_nothing) {
  const std::string page = html_page(testing::small_view()).value();
  EXPECT_EQ(page.find("{{"), std::string::npos);
  EXPECT_EQ(page.find("<link"), std::string::npos);
  EXPECT_EQ(page.find(" src="), std::string::npos);
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
}

TEST(HtmlPage, cannot_be_left_by_what_it_holds) {
  const std::string page = html_page(testing::page_view()).value();
  const size_t from = page.find(kOpen) + kOpen.size();
  const size_t end = page.find("</script>", from);
  EXPECT_EQ(page.substr(from, end - from).find('<'), std::string::npos);
  EXPECT_EQ(data_of(page)["document"]["runs"][1]["metrics"].contains(testing::kHostileScript),
            true);
}

TEST(HtmlPage, of_a_long_run_stays_small) {
  SessionView view = testing::small_view();
  auto memory = std::make_unique<MemorySeries>();
  const SeriesId id = memory->declare(describe(MetricId::memory_bytes, Scope::app, "test"));
  for (int i = 0; i < 500'000; ++i) {
    memory->sample(id, view.session.runs[0].started + Milliseconds(100) * i, i % 1000);
  }
  view.runs[0].samples = std::move(memory);
  const Json series = data_of(html_page(view).value())["series"][0][0];
  EXPECT_LE(series["t"].size(), 4000U);
  EXPECT_EQ(series["samples"], 500'000);
}

TEST(HtmlPage, of_an_empty_session_opens_too) {
  const Json data = data_of(html_page(SessionView{}).value());
  EXPECT_TRUE(data["document"]["runs"].empty());
}

}  // namespace
}  // namespace assay::report
