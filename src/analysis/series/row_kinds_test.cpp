// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <string>

#include <assay/analysis/series_analysis.h>
#include <gtest/gtest.h>

namespace assay::analysis {
namespace {

/// So many rows at each of 60 times; `row` writes what is behind the time.
std::string kinds_of(const std::string& head, int rows, auto row) {
  std::string text = head.empty() ? "" : head + "\n";
  for (int i = 0; i < 60 * rows; ++i)
    text += fmt::format("{},{}\n", 1772323200 + 60 * (i / rows), row(i));
  const auto series = parse_series(text, "x");
  EXPECT_TRUE(series) << series.error().message;
  return series ? series->kinds : "";
}

TEST(RowKinds, a_column_of_few_words_tells_rows_apart) {
  const auto two = [](int i) { return fmt::format("{},{}", i % 2 ? "A" : "B", i * 7 % 13); };
  EXPECT_EQ(kinds_of("time,station,level", 2, two), "station has 2 values: A, B");
  EXPECT_EQ(
      kinds_of("", 2, [](int i) { return fmt::format("{},{}", i * 7 % 13, i % 2 ? "A" : "B"); }),
      "column 3 has 2 values: A, B");
  EXPECT_EQ(kinds_of("time,level,name", 9,
                     [](int i) { return fmt::format("{},n{}", i * 7 % 13, i % 9); }),
            "name has 9 values: n0, n1, n2, n3 and 5 more");
}

TEST(RowKinds, a_column_of_small_numbers_or_of_names_tells_rows_apart) {
  const auto eight = [](int i) { return fmt::format("{},{}", i % 8, 50 + i * 7 % 50); };
  EXPECT_EQ(kinds_of("time,gpu,use", 8, eight), "gpu has 8 values: 0, 1, 2, 3 and 4 more");
  EXPECT_EQ(kinds_of("time,site_id,use", 2,
                     [](int i) { return fmt::format("{},{}", 501 + i % 2, i * 7 % 50); }),
            "site_id has 2 values: 501, 502");
  EXPECT_EQ(kinds_of("time,node,gpu,use", 8,
                     [](int i) { return fmt::format("n{},{},{}", i % 2, i / 2 % 4, i * 7 % 50); }),
            "gpu has 4 values: 0, 1, 2, 3")
      << "what tells most of them";
}

TEST(RowKinds, other_columns_tell_nothing) {
  EXPECT_EQ(kinds_of("time,level,state", 2,
                     [](int i) { return fmt::format("{},{}", i * 7 % 50, i % 20 ? "ok" : "bad"); }),
            "");
  EXPECT_EQ(kinds_of("time,level,remark", 2,
                     [](int i) { return fmt::format("{},{}", i * 7 % 50, i % 9 ? "" : "ab"); }),
            "");
  EXPECT_EQ(kinds_of("time,level,other", 2,
                     [](int i) { return fmt::format("{},{}", i * 7 % 50, i * i % 7); }),
            "");
  EXPECT_EQ(
      kinds_of("time,level,name", 2, [](int i) { return fmt::format("{},row{}", i * 7 % 50, i); }),
      "");
  EXPECT_EQ(kinds_of("time,name,level", 1,
                     [](int i) { return fmt::format("{},{}", i % 2 ? "A" : "B", i); }),
            "")
      << "one row a time";
}

}  // namespace
}  // namespace assay::analysis
