// SPDX-License-Identifier: Apache-2.0
#include <assay/base/csv.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

using Row = std::vector<std::string>;

std::vector<Row> rows_of(std::string_view text) {
  CsvRows rows(text);
  std::vector<Row> found;
  Row row;
  while (true) {
    const auto more = rows.next(row);
    EXPECT_TRUE(more) << more.error().message;
    if (!more || !*more) return found;
    found.push_back(row);
  }
}

TEST(Csv, cells_are_apart_by_commas_and_rows_by_line_ends) {
  EXPECT_EQ(rows_of("a,b\n1,2\r\n\n3,"), (std::vector<Row>{{"a", "b"}, {"1", "2"}, {"3", ""}}));
  EXPECT_EQ(rows_of("\xEF\xBB\xBF"
                    "a\n"),
            (std::vector<Row>{{"a"}}));
  EXPECT_TRUE(rows_of("").empty());
  EXPECT_TRUE(rows_of("\n\r\n").empty());
}

TEST(Csv, another_sign_may_stand_between_cells) {
  CsvRows rows("a;\"b;c\";1,5\n", ';');
  Row row;
  ASSERT_TRUE(*rows.next(row));
  EXPECT_EQ(row, (Row{"a", "b;c", "1,5"}));
}

TEST(Csv, quotes_hold_commas_line_ends_and_quotes) {
  EXPECT_EQ(rows_of("\"a,b\",\"say \"\"x\"\"\",\"two\nlines\"\nnext"),
            (std::vector<Row>{{"a,b", "say \"x\"", "two\nlines"}, {"next"}}));
}

TEST(Csv, counts_lines_also_within_quotes) {
  CsvRows rows("a\n\n\"x\ny\"\nb");
  Row row;
  for (const size_t line : {1U, 3U, 5U}) {
    ASSERT_TRUE(*rows.next(row));
    EXPECT_EQ(rows.line(), line);
  }
}

TEST(Csv, a_quote_that_is_not_closed_is_an_error_with_its_line) {
  CsvRows rows("a\nb,\"c\n");
  Row row;
  ASSERT_TRUE(*rows.next(row));
  const auto broken = rows.next(row);
  ASSERT_FALSE(broken);
  EXPECT_NE(broken.error().message.find("line 2"), std::string::npos);
}

TEST(Csv, a_row_of_very_many_cells_is_an_error) {
  const std::string text(CsvRows::kMostCells, ',');
  CsvRows rows(text);
  Row row;
  EXPECT_FALSE(rows.next(row));
}

}  // namespace
}  // namespace assay
