// SPDX-License-Identifier: Apache-2.0
#include "testing/sample_views.h"

#include <assay/base/files.h>
#include <gtest/gtest.h>

namespace assay::report {
namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(JunitXml, has_a_case_for_the_run_and_one_for_each_goal) {
  const std::string xml = junit_xml(testing::small_view());
  EXPECT_TRUE(
      contains(xml, "<testsuites name=\"waggle/objcounter:0.0.0\" tests=\"4\" failures=\"2\""))
      << xml;
  EXPECT_TRUE(contains(xml, "hostname=\"pole-17\"")) << xml;
  EXPECT_TRUE(contains(xml, "timestamp=\"2026-01-31T12:00:00\"")) << xml;
  EXPECT_TRUE(contains(xml,
                       "<testcase name=\"runs to its end\" classname=\"waggle/objcounter:0.0.0 run "
                       "1\" time=\"60.000\"/>"))
      << xml;
  EXPECT_TRUE(contains(xml, "<testcase name=\"fps &gt;= 10\"")) << xml;
  EXPECT_TRUE(contains(xml, "<property name=\"cpu_cores.mean\" value=\"1.83\"/>")) << xml;
}

TEST(JunitXml, tells_key_numbers_in_the_failure) {
  const std::string xml = junit_xml(testing::small_view());
  EXPECT_TRUE(contains(
      xml, "<failure message=\"goal latency.p95 &lt;= 200ms missed: 224 ms\" type=\"goal\">"))
      << xml;
  EXPECT_TRUE(contains(xml, "message=\"goal accuracy &gt; 0.5 missed: never reported\"")) << xml;
  EXPECT_TRUE(contains(xml, "memory_bytes: mean 580 MB, p95 599 MB, peak 612 MB")) << xml;
}

TEST(JunitXml, makes_a_failed_run_a_failure_of_its_kind) {
  SessionView view = testing::small_view();
  view.session.runs[0].status = RunStatus::oom;
  view.session.runs[0].exit.detail = "killed by SIGKILL";
  const std::string xml = junit_xml(view);
  EXPECT_TRUE(
      contains(xml, "type=\"oom\">the app was killed for using too much memory: killed by SIGKILL"))
      << xml;
}

TEST(JunitXml, skips_runs_that_were_not_started) {
  SessionView view = testing::small_view();
  view.session.planned_runs = 3;
  const std::string xml = junit_xml(view);
  EXPECT_NE(xml.find("tests=\"2\" failures=\"0\" errors=\"0\" skipped=\"2\""), std::string::npos)
      << xml;
  const size_t first = xml.find("<skipped message=\"the session ended before this run\"/>");
  ASSERT_NE(first, std::string::npos);
  EXPECT_NE(xml.find("<skipped ", first + 1), std::string::npos);
}

TEST(JunitXml, passes_a_run_that_reached_its_timeout) {
  SessionView view = testing::small_view();
  view.session.runs[0].status = RunStatus::timeout;
  EXPECT_TRUE(contains(junit_xml(view), "failures=\"2\""));
}

TEST(JunitXml, holds_no_byte_that_xml_forbids) {
  SessionView view = testing::small_view();
  view.session.app.name = "a<b>&\"'\x01\x1b[31m\xFF\xEF\xBF\xBF";
  view.runs[0].analysis.goals[1].goal.text = "\x02]]>";
  const std::string xml = junit_xml(view);
  EXPECT_TRUE(contains(xml, "a&lt;b&gt;&amp;&quot;'[31m\xEF\xBF\xBD:0.0.0")) << xml;
  EXPECT_TRUE(contains(xml, "goal ]]&gt; missed"));
  for (const char c : xml) EXPECT_FALSE(static_cast<unsigned char>(c) < 0x20 && c != '\n');
}

}  // namespace
}  // namespace assay::report
