// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <string>

#include <assay/analysis/series_analysis.h>
#include <gtest/gtest.h>

namespace assay::analysis {
namespace {

TEST(ParseSeries, positions_parts_of_times_and_names_are_no_values_where_there_are_others) {
  for (const auto& [head, value] : {std::pair{"Wall time,Step,Value", "Value"},
                                    {"timestamp,step,loss", "loss"},
                                    {"timestamp,index,utilization.gpu [%]", "utilization.gpu [%]"},
                                    {"date,SiteID,Flow", "Flow"},
                                    {"date,STATIONS_ID,Flow", "Flow"},
                                    {"date,T,P", "T"},
                                    {"date,NO,O3", "NO"},
                                    {"date,generation,load", "generation"},
                                    {"date,step,id", "step"},
                                    {"time,gpu,utilization", "utilization"},
                                    {"time,device,power", "power"},
                                    {"time,minor_number,power", "power"},
                                    {"time,local_rank,loss", "loss"},
                                    {"time,site_no,level", "level"},
                                    {"time,lon,level", "level"},
                                    {"time,latitude,level", "level"},
                                    {"time,lat,errors", "lat"},
                                    {"time,number,errors", "number"},
                                    {"time,gpu,gpu_id", "gpu"},
                                    {"time,platform,gain", "platform"}}) {
    const auto series =
        parse_series(std::string(head) + "\n1772323200,7,5\n1772326800,8,6\n1772330400,7,5\n", "x");
    ASSERT_TRUE(series) << head << series.error().message;
    EXPECT_NE(series->columns.find(fmt::format("({}) by", value)), std::string::npos)
        << series->columns;
  }
}

TEST(ParseSeries, what_is_used_may_be_idle_all_the_time) {
  for (const auto& [head, name] :
       {std::pair{"time,utilization.gpu [%],power.draw [W]", "utilization.gpu [%]"},
        {"time,depth,power.draw [W]", "power.draw [W]"}}) {
    const auto series = parse_series(std::string(head) + "\n0,0,71\n1,0,70\n2,0,71\n", "x");
    ASSERT_TRUE(series) << series.error().message;
    EXPECT_EQ(series->name, name);
  }
}

TEST(ParseSeries, where_something_stands_is_no_value) {
  const auto series =
      parse_series("time,lat,long,depth\n0,51.0,13.7,5\n1,51.1,13.8,6\n2,51.2,13.9,5\n", "x");
  ASSERT_TRUE(series) << series.error().message;
  EXPECT_EQ(series->name, "depth");
}

TEST(ParseSeries, what_gpus_are_called_is_no_value_but_what_they_use_is) {
  const auto used = parse_series("time,gpu,mem\n0,50,1\n1,97,2\n2,12,3\n", "x");
  EXPECT_EQ(used->name, "gpu");
  const auto called = parse_series("time,gpu,node,use\n0,0,n1,50\n1,0,n1,97\n2,0,n1,12\n", "x");
  EXPECT_EQ(called->name, "use");
  std::string idle = "time,gpu,mem\n";
  for (int i = 0; i < 300; ++i) idle += fmt::format("{},{},{}\n", i, i < 250 ? i % 2 : 90, i % 7);
  EXPECT_EQ(parse_series(idle, "x")->name, "gpu") << "idle for long";
  const auto alone = parse_series("time,gpu\n0,0\n1,1\n2,0\n", "x");
  ASSERT_TRUE(alone) << alone.error().message;
  EXPECT_EQ(alone->name, "gpu");
  const auto asked = parse_series("time,gpu,use\n0,0,5\n1,1,6\n2,0,7\n", "x", {.column = "gpu"});
  EXPECT_EQ(asked->values, (std::vector<double>{0, 1, 0}));
}

TEST(ParseSeries, a_column_that_is_always_the_same_is_the_value_only_where_all_are) {
  std::string late = "time,rain,height,level\n";
  for (int i = 0; i < 300; ++i) late += fmt::format("{},{},9,{}\n", i, i == 290 ? 4 : 0, i % 7);
  EXPECT_EQ(parse_series(late, "x")->name, "rain");
  EXPECT_EQ(parse_series("time,a,b,c\n0,5,7,1\n1,,7,2\n2,5,7,2\n", "x")->name, "c");
  EXPECT_EQ(parse_series("time,a,b\n0,5,7\n1,5,7\n2,5,7\n", "x")->name, "a");
  EXPECT_EQ(parse_series("0,5,7\n1,5,8\n2,5,7\n", "x")->values[1], 8);
}

}  // namespace
}  // namespace assay::analysis
