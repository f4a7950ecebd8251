// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <assay/predict/table.h>
#include <gtest/gtest.h>

namespace assay::predict {
namespace {

const char* const kMap =
    "time: {column: ms, unit: ms}\n"
    "task: [board, precision]\n"
    "device: board\n"
    "namesakes: [[pi, \"Pi_*\"]]\n"
    "model: net\n"
    "features: [log(macs), \"share(fc, macs)\", \"log1p(se, 2)\"]\n"
    "costs: [macs, macs - fc - se]\n";
const char* const kRows =
    "board,precision,net,macs,fc,se,ms\n"
    "pi,int8,a,100,25,0,10\n"
    "pi,int8,b,200,50,4,30\n"
    "Pi_4,int8,a,100,25,0,12\n"
    "Pi_4,int8,a,100,25,0,14\n";

Result<Table> table_of(const std::string& map, const std::string& rows,
                       const std::string& joined = {}) {
  const auto mapping = read_mapping("map.yaml", map);
  if (!mapping) return fail(mapping.error());
  return make_table({"t.csv", rows}, {"j.csv", joined}, *mapping);
}
std::string error_of(const std::string& map, const std::string& rows) {
  const auto table = table_of(map, rows);
  return table ? "" : table.error().message;
}

TEST(Table, is_read_by_its_mapping) {
  const auto table = table_of(kMap, kRows);
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_EQ(table->tasks, (std::vector<std::string>{"Pi_4|int8", "pi|int8"}));
  EXPECT_EQ(table->devices, (std::vector<std::string>{"pi", "pi"}));
  ASSERT_EQ(table->items.size(), 2U);
  EXPECT_EQ(table->items[1].model, "b");
  EXPECT_NEAR(table->features.at(0, 0), std::log(100), 1e-12);
  EXPECT_DOUBLE_EQ(table->features.at(1, 1), 0.25);
  EXPECT_NEAR(table->features.at(1, 2), std::log(3), 1e-12);
  EXPECT_DOUBLE_EQ(table->costs.at(1, 1), 146);
  EXPECT_DOUBLE_EQ(table->seconds.at(0, 0), 0.013) << "the median of both";
  EXPECT_TRUE(std::isnan(table->seconds.at(0, 1)));
  EXPECT_DOUBLE_EQ(table->seconds.at(1, 1), 0.03);
}

TEST(Table, takes_wanted_rows_and_joins_what_another_file_says) {
  const std::string map =
      "time: {column: time, unit: \"HH:MM:SS\"}\ntask: board\nmodel: net\nonly: {kit: x}\n"
      "join: {file: j.csv, on: net}\nfeatures: [macs]\nleast_rows: 2\n";
  const std::string rows =
      "board,kit,net,time\np,x,a,00:00:01.5\np,y,zz,bad\np,x,b,01:01:00\nq,x,a,00:00:01\n";
  const auto table = table_of(map, rows, "net,macs\na,5\nb,6\n");
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_EQ(table->tasks, std::vector<std::string>{"p"}) << "q has one row only";
  EXPECT_DOUBLE_EQ(table->features.at(1, 0), 6);
  EXPECT_DOUBLE_EQ(table->seconds.at(0, 0), 1.5);
  EXPECT_DOUBLE_EQ(table->seconds.at(0, 1), 3660);
  const auto lacking = table_of(map, rows, "net,macs\na,5\n");
  ASSERT_FALSE(lacking);
  EXPECT_EQ(lacking.error().message, "t.csv:4: j.csv has no \"b\"");
}

TEST(Table, wrong_cells_are_named_by_file_and_line) {
  const std::string head = "board,precision,net,macs,fc,se,ms\n";
  EXPECT_EQ(error_of(kMap, head + "pi,int8,a,100,25,0,-1\n"),
            "t.csv:2: ms: \"-1\" is no time above zero");
  EXPECT_EQ(error_of(kMap, head + "pi,int8,a,many,25,0,1\n"),
            "t.csv:2: macs: \"many\" is no number");
  EXPECT_EQ(error_of(kMap, head + "pi,int8,a,0,0,0,1\n"), "t.csv:2: log(macs) of 0 is no number");
  EXPECT_EQ(error_of(kMap, head + "pi,int8\n"), "t.csv:2: 2 cells under 7 columns");
  EXPECT_EQ(error_of(kMap, "board,precision,net,fc,se,ms\n"), "t.csv: has no column \"macs\"");
  EXPECT_EQ(error_of(kMap, ""), "t.csv: is empty");
  EXPECT_EQ(error_of(kMap, head), "t.csv: no row is left");
}

TEST(Mapping, wrong_keys_are_named_by_file_and_line) {
  EXPECT_EQ(error_of("tim: 1\n", ""), "map.yaml:1: unknown key 'tim'; did you mean 'time'?");
  EXPECT_EQ(error_of("time: {column: a, unit: h}\n", ""),
            "map.yaml:1: time: unit is one of s, ms, us and HH:MM:SS");
  EXPECT_EQ(error_of("time: {column: a, unit: s}\ntask: b\nmodel: c\n", ""),
            "map.yaml: add \"features: [log(macs)]\"");
  EXPECT_EQ(error_of("model: c\nfeatures:\n- log(a)\n- lug(a)\n", ""),
            "map.yaml:4: features: \"lug(a)\" is none of log(…), log1p(…), share(…, …), "
            "root_share(…, …)");
}

TEST(Feature, is_a_formula_of_columns) {
  const auto feature = parse_feature("root_share(a - b + c, d)");
  ASSERT_TRUE(feature);
  EXPECT_EQ(feature->transform, Transform::root_share);
  ASSERT_EQ(feature->sum.size(), 3U);
  EXPECT_EQ(feature->sum[1].column, "b");
  EXPECT_EQ(feature->sum[1].sign, -1);
  EXPECT_EQ(feature->whole[0].column, "d");
  for (const auto* const wrong : {"", "a +", "log(a", "share(a)", "log(a, 3)", "log1p(a, 0)"})
    EXPECT_FALSE(parse_feature(wrong)) << wrong;
}

}  // namespace
}  // namespace assay::predict
