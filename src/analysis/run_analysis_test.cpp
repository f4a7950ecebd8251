// SPDX-License-Identifier: Apache-2.0
#include "test_run.h"

#include <assay/analysis/run_analysis.h>
#include <gtest/gtest.h>

namespace assay::analysis {
namespace {

/// Lists a series that it cannot read.
class BrokenReader final : public SeriesReader {
 public:
  std::vector<SeriesInfo> list() const override { return {event_info("fps")}; }
  Result<Series> read(size_t) const override { return refused("block 3 is damaged"); }
};

TEST(AnalyzeRun, passes_on_why_samples_cannot_be_read) {
  const auto analysis = analyze_run(RunRecord(), Device(), BrokenReader());
  ASSERT_FALSE(analysis);
  EXPECT_EQ(analysis.error().message, "block 3 is damaged");
}

TEST(AnalyzeRun, of_an_empty_run_is_empty) {
  const auto analysis = analyze_run(RunRecord(), Device(), MemorySeries()).value();
  EXPECT_TRUE(analysis.footprint.empty());
  EXPECT_TRUE(analysis.node.empty());
  EXPECT_TRUE(analysis.metrics.empty());
  EXPECT_TRUE(analysis.goals.empty());
  EXPECT_TRUE(analysis.advice.empty());
  EXPECT_EQ(analysis.answer, "still runs; what it needs could not be measured");
}

TEST(AnalyzeRun, of_a_healthy_run_has_an_answer_and_no_advice) {
  const auto analysis = healthy_run().analyze();
  EXPECT_EQ(analysis.answer, "needs 1.5 cores and 300 MB; reached 12.4 of 10 fps");
  EXPECT_TRUE(analysis.goals.at(0).met);
  for (const auto& advice : analysis.advice) ADD_FAILURE() << advice.finding;
}

TEST(AnalyzeRun, gives_advice_that_is_complete) {
  TestRun t = healthy_run();
  t.run.status = RunStatus::oom;
  t.run.board.throttling = {"under-voltage now"};
  const auto advice = t.analyze().advice;
  ASSERT_EQ(advice.size(), 2U);
  for (const auto& a : advice) {
    for (const auto& sentence : {a.finding, a.evidence, a.action}) {
      ASSERT_FALSE(sentence.empty());
      EXPECT_EQ(sentence.back(), '.') << sentence;
    }
  }
}

}  // namespace
}  // namespace assay::analysis
