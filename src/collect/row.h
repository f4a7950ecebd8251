// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <assay/base/time.h>
#include <assay/model/workload.h>

namespace assay::collect {

/// What one iteration found: one line of the table.
struct Row {
  std::string model;
  std::string family;
  std::string engine;
  std::string engine_version;
  std::string status;  ///< "ok" or "refused"; "late": it is no row
  std::string error;   ///< what the engine said
  std::optional<model::Characteristics> characteristics;  ///< nothing: the file cannot be read

  int iteration = 0;
  std::string background;  ///< "idle", "2x60%"
  int threads = 0;
  Timestamp start;
  Timestamp end;
  std::vector<double> times;  ///< seconds of each inference, sorted
  bool outlier = false;
  std::string pieces;  ///< what each took, as predict/profile.h writes it; only of some idle rows

  double cores = 0;
  std::optional<double> load_percent;
  std::optional<double> cpu_percent;
  std::optional<double> memory_percent;
  std::optional<double> disk_read_bytes;
  std::optional<double> disk_write_bytes;
  std::optional<double> disk_percent;
  std::optional<double> joules;  ///< of one inference

  std::string device;
  std::string device_uuid;
  std::string device_class;
  std::string device_model;
};

/// Of sorted values, between neighbours by their distance.
double quantile(const std::vector<double>& sorted, double share);

/// What engines say in several lines.
std::string in_one_line(std::string text);

/// "00:00:00.012345".
std::string clock_time(double seconds);

/// The names of all columns, in the order of the cells.
std::vector<std::string> column_names();
std::vector<std::string> cells_of(const Row& row);
/// One line of a table, with its end; what a cell must not hold is put in quotes or left out.
std::string csv_line(const std::vector<std::string>& cells);

}  // namespace assay::collect
