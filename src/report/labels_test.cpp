// SPDX-License-Identifier: Apache-2.0
#include "labels.h"

#include <gtest/gtest.h>

namespace assay::report {
namespace {

SessionRecord with_commands(const std::vector<std::vector<std::string>>& commands) {
  SessionRecord session;
  for (size_t i = 0; i < commands.size(); ++i) {
    RunRecord run;
    run.ordinal = static_cast<int>(i) + 1;
    run.target_index = static_cast<int>(i);
    run.target.command = commands[i];
    session.runs.push_back(run);
  }
  return session;
}

TEST(RunLabels, tell_targets_apart_by_what_differs) {
  const auto session =
      with_commands({{"app", "-v", "--use-gpu"}, {"app", "-v", "--use-cpu", "a b"}});
  EXPECT_EQ(run_labels(session), (std::vector<std::string>{"--use-gpu", "--use-cpu 'a b'"}));
}

TEST(RunLabels, keep_an_option_with_its_value) {
  const auto session = with_commands({{"app", "--size", "640x360", "--frames", "700"},
                                      {"app", "--size", "1280x720", "--frames", "200"}});
  EXPECT_EQ(run_labels(session), (std::vector<std::string>{"--size 640x360 --frames 700",
                                                           "--size 1280x720 --frames 200"}));
}

TEST(RunLabels, are_the_names_of_targets_that_have_one) {
  auto session = with_commands({{"app", "--fast"}, {"app", "--good"}});
  session.runs[1].target.name = "small board";
  EXPECT_EQ(run_labels(session), (std::vector<std::string>{"--fast", "small board"}));
}

TEST(RunLabels, fall_back_to_limits_and_then_numbers) {
  auto session = with_commands({{"app"}, {"app"}});
  session.runs[0].target.limits.cpus = 2;
  session.runs[0].target.limits.memory_bytes = 512'000'000;
  EXPECT_EQ(run_labels(session), (std::vector<std::string>{"2 cores, 512 MB", "target 2"}));
  session.runs[1].target.limits.gpus = "all";
  session.runs[1].target.limits.network.rate_bits_per_second = 2e6;
  EXPECT_EQ(run_labels(session)[1], "all GPUs, 2 Mbit/s");
}

TEST(RunLabels, number_the_repeats_of_one_target) {
  auto session = with_commands({{"app"}, {"app"}});
  session.runs[1].target_index = 0;
  session.runs[1].repeat_index = 1;
  EXPECT_EQ(run_labels(session), (std::vector<std::string>{"run 1", "run 2"}));
}

TEST(RunLabels, are_never_equal) {
  const std::string longest(100, 'x');
  const auto session = with_commands({{"app", longest + "1"}, {"app", longest + "2"}});
  const auto labels = run_labels(session);
  EXPECT_NE(labels[0], labels[1]);
  EXPECT_LT(labels[0].size(), 50U);
}

TEST(TitleOf, knows_the_catalogue_and_leaves_other_names_alone) {
  EXPECT_EQ(title_of("cpu_cores"), "CPU cores");
  EXPECT_EQ(title_of("my_metric"), "my_metric");
  for (const auto& m : catalog()) {
    const auto shown = m.rate_name.empty() ? m.name : m.rate_name;
    EXPECT_NE(title_of(shown), shown) << "has no title: " << shown;
  }
}

TEST(Printable, leaves_nothing_that_a_terminal_obeys) {
  EXPECT_EQ(printable("a\x1b[31mb\nc\xC2\x9B"
                      "2J\xFF"),
            "a?[31mb c?2J\xEF\xBF\xBD");
  EXPECT_EQ(printable("µ – ✓"), "µ – ✓");
}

TEST(GoalText, is_put_together_when_it_was_not_kept) {
  EXPECT_EQ(goal_text({"latency", "p95", Comparison::less_equal, 0.2, ""}), "latency.p95 <= 0.2");
}

}  // namespace
}  // namespace assay::report
