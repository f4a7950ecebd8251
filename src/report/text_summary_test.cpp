// SPDX-License-Identifier: Apache-2.0
#include "layout.h"
#include "testing/sample_views.h"

#include <sstream>

#include <assay/base/files.h>
#include <gtest/gtest.h>

namespace assay::report {
namespace {

std::string golden(const std::string& name) {
  return read_file(std::filesystem::path(ASSAY_TESTDATA) / name).value_or("no such golden file");
}

/// What an eye sees: without colour codes.
std::string without_color(const std::string& text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b') {
      i = text.find('m', i);
    } else {
      plain += text[i];
    }
  }
  return plain;
}

TEST(TextSummary, of_one_run) {
  EXPECT_EQ(text_summary(testing::small_view(), false), golden("one_run.txt"));
}

TEST(TextSummary, of_two_targets) {
  EXPECT_EQ(text_summary(testing::page_view(), false), golden("two_targets.txt"));
}

TEST(TextSummary, has_no_averages_of_the_memory_of_a_need_with_few_samples) {
  SessionView view = testing::page_view();
  analysis::Distribution memory;
  memory.mean = 8.1e7;
  memory.peak = 9e7;
  memory.unit = "bytes";
  memory.count = 2;
  view.runs[0].analysis.needs = {{"broker", {{"memory_bytes", memory}}}};
  const std::string text = text_summary(view, false);
  EXPECT_NE(text.find("90 MB"), std::string::npos) << text;
  EXPECT_EQ(text.find("81 MB"), std::string::npos) << text;
}

TEST(TextSummary, of_many_runs_is_one_line_each) {
  const std::string text = text_summary(testing::many_runs_view(5), false);
  EXPECT_NE(text.find("  run 5                          1.83 / 2.4     580 MB / 612 MB\n"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("p99"), std::string::npos) << text;
  EXPECT_EQ(text.find("waits for its disk"), text.rfind("waits for its disk")) << text;
}

TEST(TextSummary, in_colour_differs_by_colour_alone) {
  const auto view = testing::page_view();
  const std::string colored = text_summary(view, true);
  EXPECT_NE(colored.find("\x1b[32m✓\x1b[0m"), std::string::npos);
  EXPECT_EQ(without_color(colored), text_summary(view, false));
}

TEST(TextSummary, fits_a_hundred_columns) {
  SessionView view = testing::page_view();
  view.runs[0].analysis.metrics.emplace_back(std::string(300, 'n'), analysis::Distribution{});
  view.runs[0].analysis.goals[0].goal.text = std::string(300, 'g');
  view.session.app.name = std::string(300, 'a');
  std::istringstream lines(text_summary(view, false));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), 100U) << line;
}

TEST(TextSummary, fits_a_narrow_terminal_without_p50_and_p99) {
  SessionView view = testing::small_view();
  view.session.folder = "/f";
  view.session.app.name = std::string(100, 'a');
  const std::string text = text_summary(view, false, 64);
  EXPECT_EQ(text.find("p50"), std::string::npos) << text;
  EXPECT_EQ(text.find("p99"), std::string::npos) << text;
  EXPECT_NE(text.find("p95"), std::string::npos) << text;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), 64U) << line;
}

TEST(TextSummary, obeys_no_escape_from_a_name) {
  SessionView view = testing::small_view();
  view.runs[0].analysis.metrics.emplace_back("\x1b[2Jclear", analysis::Distribution{});
  EXPECT_EQ(text_summary(view, false).find('\x1b'), std::string::npos);
}

analysis::Distribution& memory_of(SessionView& view) {
  for (auto& [name, line] : view.runs[0].analysis.footprint) {
    if (name == "memory_bytes") return line;
  }
  return view.runs[0].analysis.footprint.front().second;
}

TEST(TextSummary, shows_no_averages_of_memory_that_was_hardly_looked_at) {
  SessionView view = testing::small_view();
  memory_of(view).count = 2;
  const std::string text = text_summary(view, false);
  EXPECT_NE(text.find("  Memory                   –          –          –          –    612 MB\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("Memory: the run was too short for its averages\n"), std::string::npos)
      << text;
}

TEST(TextSummary, tells_what_memory_is_without_a_control_group) {
  SessionView view = testing::small_view();
  memory_of(view).source = "/proc/PID/status VmRSS of the tree";
  const std::string text = text_summary(view, false);
  EXPECT_NE(text.find("Memory: the resident memory of its processes added up"), std::string::npos)
      << text;
}

TEST(TextSummary, tells_how_many_runs_were_not_started) {
  SessionView view = testing::small_view();
  EXPECT_EQ(text_summary(view, false).find("Not started"), std::string::npos);
  view.session.planned_runs = 3;
  const std::string text = text_summary(view, false);
  EXPECT_NE(text.find("Not started: 2 of 3 runs;"), std::string::npos) << text;
}

TEST(TextSummary, tells_unlike_states_of_the_board) {
  auto view = testing::page_view();
  view.runs[1].unlike_first = {"governor was performance, is powersave"};
  EXPECT_NE(text_summary(view, false)
                .find("is not comparable with -interval 1 --use-gpu: governor was performance"),
            std::string::npos);
}

}  // namespace
}  // namespace assay::report
