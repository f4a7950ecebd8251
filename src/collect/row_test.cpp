// SPDX-License-Identifier: Apache-2.0
#include "row.h"

#include <algorithm>

#include <assay/base/csv.h>
#include <gtest/gtest.h>

namespace assay::collect {
namespace {

std::string cell(const Row& row, const std::string& column) {
  const auto names = column_names();
  const auto at = std::find(names.begin(), names.end(), column) - names.begin();
  return cells_of(row).at(static_cast<size_t>(at));
}

TEST(Row, has_the_columns_that_readers_of_the_table_know) {
  const auto names = column_names();
  for (const char* name : {"conv_layers",
                           "total_cpu_usage_percent",
                           "device_cpu_cores",
                           "device_load_percent",
                           "device",
                           "disk_io_read_bytes",
                           "disk_io_write_bytes",
                           "device_disk_usage_percent",
                           "start_timestamp",
                           "end_timestamp",
                           "execution_number",
                           "execution_time",
                           "filter_details",
                           "fully_conn_layers",
                           "total_memory_usage_percent",
                           "pool_layers",
                           "total_parameters",
                           "model",
                           "family",
                           "engine",
                           "engine_version",
                           "precision",
                           "threads",
                           "status",
                           "error",
                           "execution_seconds",
                           "execution_p10_seconds",
                           "execution_p90_seconds",
                           "inferences",
                           "outlier",
                           "background",
                           "energy_joules",
                           "model_input_size",
                           "model_output_size",
                           "device_uuid",
                           "device_class",
                           "device_model",
                           "macs_conv1x1",
                           "matmul_operators"}) {
    EXPECT_EQ(std::count(names.begin(), names.end(), name), 1) << name;
  }
}

TEST(Row, tells_times_by_their_median_in_both_forms) {
  Row row;
  row.times = {0.010, 0.012, 0.014, 0.016, 0.100};
  EXPECT_EQ(cell(row, "execution_seconds"), "0.014000000");
  EXPECT_EQ(cell(row, "execution_time"), "00:00:00.014000");
  EXPECT_EQ(cell(row, "execution_p10_seconds"), "0.010800000");
  EXPECT_EQ(cell(row, "inferences"), "5");
}

TEST(Row, that_was_refused_has_no_times_and_no_zeros_for_what_is_not_known) {
  const Row row;
  for (const char* name :
       {"execution_seconds", "execution_time", "energy_joules", "conv_layers", "macs_conv1x1",
        "disk_io_read_bytes", "device_load_percent", "start_timestamp"})
    EXPECT_EQ(cell(row, name), "") << name;
}

TEST(Row, the_time_of_day_form_goes_beyond_minutes) {
  EXPECT_EQ(clock_time(3725.0000015), "01:02:05.000002");
}

TEST(Row, a_line_is_read_back_as_it_was_but_for_line_ends) {
  const std::string line = csv_line({"a,b", "say \"no\"", "two\nlines", ""});
  EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1);
  CsvRows rows(line);
  std::vector<std::string> cells;
  ASSERT_TRUE(rows.next(cells).value_or(false));
  EXPECT_EQ(cells, (std::vector<std::string>{"a,b", "say \"no\"", "two lines", ""}));
}

TEST(Quantile, lies_between_neighbours) {
  EXPECT_DOUBLE_EQ(quantile({1, 2, 3, 4}, 0.5), 2.5);
  EXPECT_DOUBLE_EQ(quantile({1, 2, 3, 4}, 1), 4);
  EXPECT_DOUBLE_EQ(quantile({7}, 0.9), 7);
}

}  // namespace
}  // namespace assay::collect
