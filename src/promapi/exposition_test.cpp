// SPDX-License-Identifier: Apache-2.0
#include "testing/allocations.h"
#include "testing/example.h"

#include <limits>
#include <string>
#include <vector>

#include <assay/promapi/exposition.h>
#include <gtest/gtest.h>

namespace assay::promapi {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// What one family with one sample looks like.
std::string written(TextFormat format, std::string_view name, FamilyKind kind, double value,
                    std::string_view unit = {}) {
  Exposition out;
  out.start(format);
  out.family(name, kind, "", unit);
  out.sample({}, value);
  return std::string(out.finish());
}

TEST(Exposition, ClassicTextIsAsWrittenDown) {
  Exposition out;
  EXPECT_EQ(testing::write_example(out, TextFormat::classic),
            R"(# HELP container_cpu_usage_seconds_total CPU time, "all" cores.
# TYPE container_cpu_usage_seconds_total counter
container_cpu_usage_seconds_total{id="/docker/1f",name="objcounter"} 12.75
container_cpu_usage_seconds_total{image="a\"b\\c\nd é",cpu="cpu\\0"} 3
# HELP container_memory_working_set_bytes Memory\nin use \\ kept.
# TYPE container_memory_working_set_bytes gauge
container_memory_working_set_bytes{id="/docker/1f",name="objcounter"} 1073741824 1700000000250
container_memory_working_set_bytes{image="a\"b\\c\nd é"} 1e+300
# HELP node_temperature_celsius Where it is hottest.
# TYPE node_temperature_celsius gauge
node_temperature_celsius -0.1
# HELP node_strange_value What a board may say.
# TYPE node_strange_value untyped
node_strange_value{v="nan"} NaN
node_strange_value{v="high"} +Inf
node_strange_value{v="low"} -Inf
# HELP char_node_info The device.
# TYPE char_node_info gauge
char_node_info{model="Jetson"} 1
# HELP assay_app_latency_seconds Time of a frame.
# TYPE assay_app_latency_seconds histogram
assay_app_latency_seconds_bucket{id="/docker/1f",name="objcounter",le="1e-05"} 1
assay_app_latency_seconds_bucket{id="/docker/1f",name="objcounter",le="0.25"} 3
assay_app_latency_seconds_bucket{id="/docker/1f",name="objcounter",le="1.0"} 4
assay_app_latency_seconds_bucket{id="/docker/1f",name="objcounter",le="1e+06"} 5
assay_app_latency_seconds_bucket{id="/docker/1f",name="objcounter",le="+Inf"} 6
assay_app_latency_seconds_sum{id="/docker/1f",name="objcounter"} 2.5
assay_app_latency_seconds_count{id="/docker/1f",name="objcounter"} 6
)");
}

TEST(Exposition, OpenMetricsIsAsWrittenDown) {
  Exposition out;
  EXPECT_EQ(testing::write_example(out, TextFormat::openmetrics),
            R"(# HELP container_cpu_usage_seconds CPU time, \"all\" cores.
# TYPE container_cpu_usage_seconds counter
# UNIT container_cpu_usage_seconds seconds
container_cpu_usage_seconds_total{id="/docker/1f",name="objcounter"} 12.75
container_cpu_usage_seconds_total{image="a\"b\\c\nd é",cpu="cpu\\0"} 3
# HELP container_memory_working_set_bytes Memory\nin use \\ kept.
# TYPE container_memory_working_set_bytes gauge
# UNIT container_memory_working_set_bytes bytes
container_memory_working_set_bytes{id="/docker/1f",name="objcounter"} 1073741824 1700000000.250
container_memory_working_set_bytes{image="a\"b\\c\nd é"} 1e+300
# HELP node_temperature_celsius Where it is hottest.
# TYPE node_temperature_celsius gauge
# UNIT node_temperature_celsius celsius
node_temperature_celsius -0.1
# HELP node_strange_value What a board may say.
# TYPE node_strange_value unknown
node_strange_value{v="nan"} NaN
node_strange_value{v="high"} +Inf
node_strange_value{v="low"} -Inf
# HELP char_node The device.
# TYPE char_node info
char_node_info{model="Jetson"} 1
# HELP assay_app_latency_seconds Time of a frame.
# TYPE assay_app_latency_seconds histogram
# UNIT assay_app_latency_seconds seconds
assay_app_latency_seconds_bucket{id="/docker/1f",name="objcounter",le="1e-05"} 1
assay_app_latency_seconds_bucket{id="/docker/1f",name="objcounter",le="0.25"} 3
assay_app_latency_seconds_bucket{id="/docker/1f",name="objcounter",le="1.0"} 4
assay_app_latency_seconds_bucket{id="/docker/1f",name="objcounter",le="1e+06"} 5
assay_app_latency_seconds_bucket{id="/docker/1f",name="objcounter",le="+Inf"} 6
assay_app_latency_seconds_sum{id="/docker/1f",name="objcounter"} 2.5
assay_app_latency_seconds_count{id="/docker/1f",name="objcounter"} 6
# EOF
)");
}

TEST(Exposition, ACounterWithoutTotalKeepsItsNameEverywhere) {
  EXPECT_EQ(written(TextFormat::classic, "node_forks", FamilyKind::counter, 1),
            "# TYPE node_forks counter\nnode_forks 1\n");
  EXPECT_EQ(written(TextFormat::openmetrics, "node_forks", FamilyKind::counter, 1),
            "# TYPE node_forks unknown\nnode_forks 1\n# EOF\n");
}

TEST(Exposition, AnInfoGetsItsEnding) {
  EXPECT_EQ(written(TextFormat::classic, "board", FamilyKind::info, 1),
            "# TYPE board_info gauge\nboard_info 1\n");
  EXPECT_EQ(written(TextFormat::openmetrics, "board", FamilyKind::info, 1),
            "# TYPE board info\nboard_info 1\n# EOF\n");
}

TEST(Exposition, AUnitThatTheNameDoesNotEndInIsLeftOut) {
  for (const std::string_view name : {"uptime", "milliseconds", "seconds", "seconds_up"}) {
    const std::string text =
        written(TextFormat::openmetrics, name, FamilyKind::gauge, 1, "seconds");
    EXPECT_EQ(text.find("UNIT"), std::string::npos) << text;
  }
}

TEST(Exposition, WhatACounterCannotBeIsLeftOutWithItsFamily) {
  EXPECT_EQ(written(TextFormat::classic, "x_total", FamilyKind::counter, -1), "");
  EXPECT_EQ(written(TextFormat::classic, "x_total", FamilyKind::counter, kNan), "");
  EXPECT_EQ(written(TextFormat::openmetrics, "x_total", FamilyKind::counter, kNan), "# EOF\n");
}

TEST(Exposition, ANewStartForgetsTheLastScrape) {
  Exposition out;
  out.start(TextFormat::openmetrics);
  out.family("old", FamilyKind::gauge, "");
  out.sample({}, 1);
  out.start(TextFormat::classic);
  EXPECT_EQ(out.finish(), "");
}

TEST(Exposition, TheLastBucketIsNotWrittenTwice) {
  Exposition out;
  out.start(TextFormat::classic);
  out.family("h", FamilyKind::histogram, "");
  const std::vector<Bucket> buckets{{1, 2}, {std::numeric_limits<double>::infinity(), 3}};
  out.histogram({}, {buckets, 4, 3});
  EXPECT_EQ(out.finish(),
            "# TYPE h histogram\nh_bucket{le=\"1.0\"} 2\nh_bucket{le=\"+Inf\"} 3\nh_sum 4\n"
            "h_count 3\n");
}

TEST(Exposition, GrowsWithoutLosingAByte) {
  Exposition out;
  out.start(TextFormat::classic);
  out.family("x", FamilyKind::gauge, std::string(100'000, '\n'));
  const std::string value(70'000, '\\');
  out.sample({}, {"long", value}, 1);
  std::string expected = "# HELP x ";
  for (int i = 0; i < 100'000; ++i) expected += "\\n";
  expected += "\n# TYPE x gauge\nx{long=\"" + value + value + "\"} 1\n";
  EXPECT_EQ(out.finish(), expected);
}

TEST(Exposition, AllocatesNothingFromTheSecondScrapeOn) {
  const std::vector<LabelText> apps{{{"id", "/a"}}, {{"id", "/b"}}};
  const std::vector<Bucket> buckets{{0.1, 1}, {1, 2}};
  Exposition out;
  Gzip gzip;
  size_t before = 0;
  for (int scrape = 0; scrape < 5; ++scrape) {
    if (scrape == 1) before = testing::allocations();
    out.start(scrape % 2 == 0 ? TextFormat::openmetrics : TextFormat::classic);
    out.family("container_cpu_usage_seconds_total", FamilyKind::counter,
               "CPU time that the container has used.", "seconds");
    for (int i = 0; i < 5000; ++i) out.sample(apps[i % 2], i * 0.1 + scrape);
    out.family("container_latency_seconds", FamilyKind::histogram, "Time of a frame.", "seconds");
    for (const auto& app : apps) out.histogram(app, {buckets, 1.5, 3});
    EXPECT_TRUE(gzip.compressed(out.finish()));
  }
  EXPECT_GT(before, 0U);
  EXPECT_EQ(testing::allocations() - before, 0U);
}

}  // namespace
}  // namespace assay::promapi
