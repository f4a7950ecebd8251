// SPDX-License-Identifier: Apache-2.0
#include "advice.h"
#include "test_run.h"

#include <gtest/gtest.h>

namespace assay::analysis {
namespace {

std::optional<Advice> advice_on(const TestRun& t, const std::string& finding) {
  for (const auto& advice : t.analyze().advice) {
    if (advice.finding.find(finding) != std::string::npos) return advice;
  }
  return std::nullopt;
}

TEST(MeasurementAdvice, tells_how_to_report_a_goals_metric) {
  TestRun t;
  t.run.target.goals = {fps_goal()};
  const auto silent = advice_on(t, "fps was never reported");
  ASSERT_TRUE(silent);
  EXPECT_EQ(silent->evidence, "The app reported nothing about itself.");
  EXPECT_NE(silent->action.find("push('fps', value)"), std::string::npos);
  t.event("frames", {{1, 3}});
  EXPECT_EQ(advice_on(t, "fps was never reported")->evidence, "The app reported only: frames.");
  t.event("fps", {{1, 12}});
  EXPECT_FALSE(advice_on(t, "never reported"));
}

TEST(MeasurementAdvice, tells_a_report_during_the_warm_up_from_none) {
  TestRun t;
  t.run.target.goals = {fps_goal()};
  t.run.target.warmup = std::chrono::seconds(30);
  t.event("fps", {{1, 12}});
  EXPECT_FALSE(advice_on(t, "never reported"));
  const auto early = advice_on(t, "only reported during the warm-up");
  ASSERT_TRUE(early);
  EXPECT_EQ(early->evidence, "The warm-up takes 30 s.");
  t.event("fps", {{40, 12}});
  EXPECT_FALSE(advice_on(t, "only reported during the warm-up"));
}

TEST(MeasurementAdvice, says_when_a_warm_up_could_not_be_cut) {
  TestRun t;
  t.run.target.warmup = std::chrono::seconds(90);
  EXPECT_EQ(advice_on(t, "warm-up lasts longer")->evidence,
            "The warm-up is 1 min 30 s, the run took 1 min 0 s.");
  t.run.target.warmup = std::chrono::seconds(50);
  EXPECT_FALSE(advice_on(t, "warm-up"));
}

TEST(MeasurementAdvice, tells_lost_reports_from_lost_measurements) {
  TestRun t = healthy_run();
  t.run.losses = {{"hooks", "message is not a JSON object", 5},
                  {"hooks", "message is too long", 1}};
  EXPECT_EQ(advice_on(t, "about itself was lost")->evidence,
            "5 × message is not a JSON object; 1 × message is too long.");
  EXPECT_FALSE(advice_on(t, "measurements were lost"));
  t.run.losses = {{"store", "disk full", 70}};
  EXPECT_EQ(advice_on(t, "measurements were lost")->evidence, "70 × disk full.");
  EXPECT_FALSE(advice_on(t, "about itself was lost"));
  t.run.losses = {{"sampler", "beats skipped", 2}, {"hooks", "message is too long", 0}};
  EXPECT_TRUE(t.analyze().advice.empty());
}

TEST(MeasurementAdvice, tells_that_files_read_first_are_in_the_memory) {
  TestRun t;
  t.steady(MetricId::memory_bytes, 129e6);
  t.steady(MetricId::memory_rss_bytes, 144e6);
  t.steady(MetricId::memory_cache_bytes, 10e6);
  EXPECT_FALSE(t.advises("first to read"));
  TestRun first;
  first.steady(MetricId::memory_bytes, 129e6);
  first.steady(MetricId::memory_rss_bytes, 144e6);
  first.steady(MetricId::memory_cache_bytes, 91e6);
  EXPECT_EQ(first.analyze().advice.front().evidence,
            "Up to 91 MB of the 129 MB are in the file cache; files that are cached already are "
            "not counted. Its resident memory, which has every file it maps, was 144 MB.");
}

TEST(MeasurementAdvice, warns_of_late_samples) {
  TestRun t = healthy_run();
  t.run.sampling = Sampling{Milliseconds(100), Milliseconds(150), 400, 100, Milliseconds(900), 0};
  EXPECT_EQ(
      advice_on(t, "taken late")->evidence,
      "100 of 400 came late, the worst by 900 ms; the interval was 150 ms instead of 100 ms.");
  t.run.sampling->late_beats = 40;
  EXPECT_FALSE(advice_on(t, "taken late"));
  t.run.sampling = Sampling{Milliseconds(100), Milliseconds(150), 3, 2, Milliseconds(90), 0};
  EXPECT_FALSE(advice_on(t, "taken late")) << "a short run has too few beats to judge";
  t.run.sampling.reset();
  EXPECT_FALSE(advice_on(t, "taken late")) << "a killed profiler did not count";
}

}  // namespace
}  // namespace assay::analysis
