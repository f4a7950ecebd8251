// SPDX-License-Identifier: Apache-2.0
#include "row_file.h"

#include <cstdlib>
#include <fstream>

#include <assay/base/files.h>
#include <gtest/gtest.h>

namespace assay::collect {
namespace {

namespace fs = std::filesystem;

class RowFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "assay-rows-XXXXXX").native();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    file_ = folder_ / "rows.csv";
  }
  void TearDown() override { fs::remove_all(folder_); }

  static Row row(int iteration, const char* status = "ok") {
    Row row;
    row.model = "net";
    row.engine = "opencv";
    row.background = "1x50%";
    row.device = "pi";
    row.cores = 0.1;
    row.threads = 1;
    row.iteration = iteration;
    row.status = status;
    row.error = "in, \"quotes\"";
    row.load_percent = 50;
    row.times = {0.5};
    row.characteristics.emplace();
    return row;
  }
  void append(const std::string& text) const {
    std::ofstream(file_, std::ios::app | std::ios::binary) << text;
  }

  fs::path folder_;
  fs::path file_;
};

TEST_F(RowFileTest, goes_on_with_what_is_there) {
  {
    auto file = RowFile::open(file_);
    ASSERT_TRUE(file) << file.error().message;
    ASSERT_TRUE(file->add(row(0)) && file->add(row(3)));
  }
  auto file = RowFile::open(file_);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->rows(), 2U);
  const Known& known = file->known(Setting::of(row(0)));
  EXPECT_EQ(known.iterations.size(), 2U);
  EXPECT_DOUBLE_EQ(known.iterations.at({3, "1x50%"}).seconds, 0.5);
  EXPECT_DOUBLE_EQ(known.iterations.at({3, "1x50%"}).load_percent, 50);
  EXPECT_FALSE(known.refused);
}

TEST_F(RowFileTest, rows_under_another_setting_are_not_what_is_asked_for) {
  ASSERT_TRUE(RowFile::open(file_)->add(row(0, "refused")));
  const auto file = RowFile::open(file_);
  const Setting setting = Setting::of(row(0));
  EXPECT_TRUE(file->known(setting).refused);
  EXPECT_FALSE(file->known({"other", setting.engine, "pi", 0.1, 1}).refused);
  EXPECT_FALSE(file->known({"net", "other", "pi", 0.1, 1}).refused);
  EXPECT_FALSE(file->known({"net", setting.engine, "jetson", 0.1, 1}).refused);
  EXPECT_FALSE(file->known({"net", setting.engine, "pi", 2, 1}).refused);
  EXPECT_FALSE(file->known({"net", setting.engine, "pi", 0.1, 2}).refused);
}

TEST_F(RowFileTest, remembers_what_was_refused_and_what_was_no_model) {
  Row no_model = row(0, "refused");
  no_model.characteristics.reset();
  ASSERT_TRUE(RowFile::open(file_)->add(no_model));
  EXPECT_FALSE(RowFile::open(file_)->known(Setting::of(row(0))).refused);
  EXPECT_TRUE(RowFile::open(file_)->known(Setting::of(row(0))).unreadable);
  ASSERT_TRUE(RowFile::open(file_)->add(row(0, "refused")));
  EXPECT_TRUE(RowFile::open(file_)->known(Setting::of(row(0))).refused);
}

TEST_F(RowFileTest, a_row_that_was_cut_off_is_taken_away) {
  ASSERT_TRUE(RowFile::open(file_)->add(row(0)));
  const auto whole = read_file(file_).value();
  append("net,net,opencv,4.6,1,o");
  auto file = RowFile::open(file_);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(read_file(file_).value(), whole);
  EXPECT_EQ(file->rows(), 1U);
}

TEST_F(RowFileTest, a_header_that_was_cut_off_is_written_anew) {
  append(csv_line(column_names()).substr(0, 20));
  ASSERT_TRUE(RowFile::open(file_));
  EXPECT_EQ(read_file(file_).value(), csv_line(column_names()));
}

TEST_F(RowFileTest, other_columns_are_refused_and_left_alone) {
  append("model,seconds\nnet,1\n");
  const auto file = RowFile::open(file_);
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().kind, ErrorKind::input);
  EXPECT_NE(file.error().message.find("its column 2 is 'seconds'"), std::string::npos)
      << file.error().message;
  EXPECT_EQ(read_file(file_).value(), "model,seconds\nnet,1\n");
}

TEST_F(RowFileTest, others_tables_without_a_last_line_end_are_left_alone) {
  append("model,seconds\nnet,1");
  EXPECT_FALSE(RowFile::open(file_));
  EXPECT_EQ(read_file(file_).value(), "model,seconds\nnet,1");
}

TEST_F(RowFileTest, what_is_no_table_is_refused_and_left_alone) {
  append("my notes");
  EXPECT_FALSE(RowFile::open(file_));
  EXPECT_EQ(read_file(file_).value(), "my notes");
}

TEST_F(RowFileTest, a_row_that_is_none_is_named_by_its_line) {
  ASSERT_TRUE(RowFile::open(file_)->add(row(0)));
  append("only,three,cells\n");
  const auto file = RowFile::open(file_);
  ASSERT_FALSE(file);
  EXPECT_NE(file.error().message.find("rows.csv:3: "), std::string::npos) << file.error().message;
}

TEST_F(RowFileTest, is_held_by_one_at_a_time) {
  const auto first = RowFile::open(file_);
  ASSERT_TRUE(first);
  const auto second = RowFile::open(file_);
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find("another process collects into"), std::string::npos);
}

TEST(Outlier, is_far_from_rows_under_a_similar_load_only) {
  Known known;
  known.iterations = {{{0, ""}, {0, 0.010}},
                      {{1, ""}, {60, 0.020}},
                      {{2, ""}, {55, 0.021}},
                      {{3, ""}, {65, 0.019}}};
  EXPECT_FALSE(is_outlier(known, {60, 0.025}));
  EXPECT_TRUE(is_outlier(known, {60, 0.040}));
  EXPECT_TRUE(is_outlier(known, {60, 0.012}));
  EXPECT_FALSE(is_outlier(known, {0, 0.040}));  // one row says little
}

}  // namespace
}  // namespace assay::collect
