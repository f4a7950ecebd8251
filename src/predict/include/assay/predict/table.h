// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <assay/base/result.h>
#include <assay/predict/grid.h>
#include <assay/predict/mapping.h>

namespace assay::predict {

/// One thing that was run: a model, or one form of it.
struct Item {
  std::string model;  ///< those of one model are never on both sides of a validation
  std::string kind;   ///< "int8"; empty when there is one form only
};

/// What was measured: every task's time for every item, as far as it was measured.
struct Table {
  std::vector<std::string> tasks;    ///< device, engine and precision, in order
  std::vector<std::string> devices;  ///< of each task; namesakes have one name
  std::vector<Item> items;
  Grid features;  ///< items x features
  Grid costs;     ///< items x costs, none below zero
  Grid seconds;   ///< tasks x items; NaN where there is none, the median where there are several
};

/// A text and what to call it in messages.
struct CsvSource {
  std::string name;
  std::string text;
};

/// Every wrong cell is named by file and line. `joined` is looked at when the mapping joins.
Result<Table> make_table(const CsvSource& source, const CsvSource& joined, const Mapping& mapping);
/// The same from files; what is joined lies beside the table.
Result<Table> read_table(const std::filesystem::path& csv, const Mapping& mapping);

}  // namespace assay::predict
