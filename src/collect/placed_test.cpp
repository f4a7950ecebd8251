// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include <assay/base/csv.h>
#include <assay/base/files.h>
#include <assay/collect/placed.h>
#include <gtest/gtest.h>

namespace assay::collect {
namespace {

class PlacedTable : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "assay-placed-XXXXXX").native();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  const std::filesystem::path& folder() const { return folder_; }
  std::filesystem::path table() const { return folder_ / "placed.csv"; }
  std::string text() const { return read_file(table()).value_or(""); }

  /// Cells by the names of their columns, of each row.
  std::vector<std::map<std::string, std::string>> rows() const {
    const std::string whole = text();
    CsvRows csv(whole);
    std::vector<std::string> names;
    std::vector<std::string> cells;
    EXPECT_TRUE(csv.next(names).value_or(false));
    std::vector<std::map<std::string, std::string>> found;
    while (csv.next(cells).value_or(false)) {
      EXPECT_EQ(cells.size(), names.size());
      auto& row = found.emplace_back();
      for (size_t i = 0; i < std::min(cells.size(), names.size()); ++i) row[names[i]] = cells[i];
    }
    return found;
  }

 private:
  std::filesystem::path folder_;
};

Placed placed() {
  Placed one;
  one.model = "resnet18_w0.5";
  one.characteristics.precision = "float32";
  one.characteristics.counts.conv_layers = 20;
  one.device.name = "pi-1";
  one.device.uuid = "u";
  one.device.cores = 4;
  one.load = 0.25;
  one.engine = "opencv";
  one.threads = 4;
  one.seconds = {0.01, 0.02, 0.03};
  one.start = from_unix_ns(1'000'000'000);
  one.end = from_unix_ns(2'000'000'000);
  one.predicted_seconds = 0.0185;
  return one;
}

TEST_F(PlacedTable, has_the_columns_of_collecting_and_the_prediction) {
  ASSERT_TRUE(add_placed(table(), placed()));
  ASSERT_TRUE(add_placed(table(), placed()));
  const auto found = rows();
  ASSERT_EQ(found.size(), 2U);
  const auto& row = found[1];
  EXPECT_EQ(row.at("model"), "resnet18_w0.5");
  EXPECT_EQ(row.at("family"), "resnet");
  EXPECT_EQ(row.at("status"), "ok");
  EXPECT_EQ(row.at("execution_number"), "1");
  EXPECT_EQ(row.at("execution_seconds"), "0.020000000");
  EXPECT_EQ(row.at("predicted_seconds"), "0.018500000");
  EXPECT_EQ(row.at("device_load_percent"), "25.00");
  EXPECT_EQ(row.at("device"), "pi-1");
  EXPECT_EQ(row.at("conv_layers"), "20");
  EXPECT_EQ(row.at("total_cpu_usage_percent"), "") << "nobody has measured it";
  EXPECT_EQ(row.at("energy_joules"), "");
}

TEST_F(PlacedTable, a_row_that_was_cut_off_is_taken_away) {
  ASSERT_TRUE(add_placed(table(), placed()));
  const std::string whole = text();
  ASSERT_TRUE(write_file(table(), whole + "half a r"));
  ASSERT_TRUE(add_placed(table(), placed()));
  EXPECT_EQ(rows().size(), 2U);
  ASSERT_TRUE(write_file(table(), whole.substr(0, 10)));
  ASSERT_TRUE(add_placed(table(), placed()));
  EXPECT_EQ(rows().size(), 1U);
}

TEST_F(PlacedTable, is_made_with_its_folder) {
  const auto table = folder() / "not/there/placed.csv";
  const auto added = add_placed(table, placed());
  EXPECT_TRUE(added) << added.error().message;
  EXPECT_TRUE(std::filesystem::exists(table));
  ASSERT_TRUE(write_file(folder() / "file", ""));
  EXPECT_FALSE(add_placed(folder() / "file/placed.csv", placed()));
}

TEST_F(PlacedTable, a_file_of_somebody_else_stays_as_it_was) {
  ASSERT_TRUE(write_file(table(), "a,b\n1,2\n"));
  EXPECT_FALSE(add_placed(table(), placed()));
  EXPECT_EQ(text(), "a,b\n1,2\n");
}

}  // namespace
}  // namespace assay::collect
