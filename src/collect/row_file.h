// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "row.h"

#include <compare>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <assay/base/files.h>
#include <assay/base/result.h>

namespace assay::collect {

/// What a row measures, but for its background: rows that differ in any of it say nothing of each
/// other.
struct Setting {
  std::string model;
  std::string engine;
  std::string device;
  double cores = 0;
  int threads = 0;

  static Setting of(const Row& row) {
    return {row.model, row.engine, row.device, row.cores, row.threads};
  }
  auto operator<=>(const Setting&) const = default;
};

/// What the file knows of one setting.
struct Known {
  struct Measured {
    double load_percent = 0;
    double seconds = 0;
  };
  /// By number and background.
  std::map<std::pair<int, std::string>, Measured> iterations;
  size_t profiles = 0;  ///< rows that tell what pieces took
  bool refused = false;
  bool unreadable = false;           ///< its file was no model
  std::optional<double> parameters;  ///< of the model
};

/// All that a table knows.
struct KnownRows {
  std::map<Setting, Known> by_setting;
  size_t rows = 0;
};
/// Of a table with our columns, header included; an error names the line. `file` is for messages.
Result<KnownRows> parse_rows(std::string_view text, const std::string& file);

/// The table that rows are added to, one by one: each is whole on its way to disk when add()
/// returns. Held by one process at a time.
class RowFile {
 public:
  /// Makes the file with its header, or goes on with one that has the same columns; a last row that
  /// was cut off is taken away.
  static Result<RowFile> open(const std::filesystem::path& file);

  /// An error leaves the file as it was.
  Result<void> add(const Row& row);
  const Known& known(const Setting& setting) const;
  size_t rows() const { return known_.rows; }

 private:
  RowFile(std::filesystem::path path, Fd file) : path_(std::move(path)), file_(std::move(file)) {}
  Result<void> append(const std::string& line);

  std::filesystem::path path_;
  Fd file_;
  KnownRows known_;
};

/// Whether a time is far from what the same model took under a similar load: half as much again, or
/// less than two thirds of the median of at least three.
bool is_outlier(const Known& known, const Known::Measured& measured);

}  // namespace assay::collect
