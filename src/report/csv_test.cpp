// SPDX-License-Identifier: Apache-2.0
#include "testing/sample_views.h"

#include <gtest/gtest.h>

namespace assay::report {
namespace {

TEST(SamplesCsv, has_one_exact_line_a_sample) {
  EXPECT_EQ(samples_csv(testing::small_view()).value(),
            "run,scope,metric,labels,unit,time_unix_seconds,value\n"
            "1,app,cpu_usage_seconds_total,,seconds,1769860800.000000000,0\n"
            "1,app,cpu_usage_seconds_total,,seconds,1769860800.100000000,0.2\n"
            "1,app,cpu_usage_seconds_total,,seconds,1769860800.200000000,0.4\n"
            "1,app,\"fps, \"\"main\"\"\",,,1769860800.000000001,12.5\n"
            "1,node,temperature_celsius,zone=cpu,celsius,1769860800.000000000,51\n");
}

TEST(EventsCsv, has_only_what_the_app_reported) {
  EXPECT_EQ(events_csv(testing::small_view()).value(),
            "run,metric,time_unix_seconds,value,source\n"
            "1,\"fps, \"\"main\"\"\",1769860800.000000001,12.5,reported by pid 4711\n");
}

TEST(EventsCsv, quotes_names_that_break_lines) {
  SessionView view = testing::small_view();
  auto memory = std::make_unique<MemorySeries>();
  memory->sample(memory->declare({"a\nb", "", Kind::event, Scope::app, "s", {}}), from_unix_ns(0),
                 1);
  view.runs[0].samples = std::move(memory);
  EXPECT_EQ(events_csv(view).value(),
            "run,metric,time_unix_seconds,value,source\n1,\"a\nb\",0.000000000,1,s\n");
}

TEST(SamplesCsv, of_a_run_without_samples_has_only_its_head) {
  SessionView view = testing::small_view();
  view.runs[0].samples.reset();
  EXPECT_EQ(samples_csv(view).value(), "run,scope,metric,labels,unit,time_unix_seconds,value\n");
}

class BrokenReader final : public SeriesReader {
 public:
  std::vector<SeriesInfo> list() const override { return {SeriesInfo{}}; }
  Result<Series> read(size_t /*index*/) const override { return refused("block 7 is damaged"); }
};

TEST(SamplesCsv, passes_on_that_samples_cannot_be_read) {
  SessionView view = testing::small_view();
  view.runs[0].samples = std::make_unique<BrokenReader>();
  EXPECT_EQ(samples_csv(view).error().message, "block 7 is damaged");
  EXPECT_EQ(html_page(view).error().message, "block 7 is damaged");
}

}  // namespace
}  // namespace assay::report
