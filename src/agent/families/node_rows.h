// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cmath>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <assay/promapi/family_writer.h>

namespace assay::agent {

/// One line of a table of the kernel's: a device, and a value for each family; NaN where it has
/// none.
template <size_t Columns>
struct NodeRow {
  std::string name;
  promapi::LabelText labels;
  std::array<double, Columns> values{};
};

/// The lines of such a table, kept from scrape to scrape: labels are made anew only where another
/// device stands than before.
template <size_t Columns>
class NodeRows {
 public:
  using Row = NodeRow<Columns>;

  explicit NodeRows(std::string_view label) : label_(label) {}

  void clear() { used_ = 0; }
  /// With the values of the last scrape where the same device was there.
  Row& add(std::string_view name) {
    if (used_ == rows_.size()) rows_.emplace_back();
    Row& row = rows_[used_++];
    if (row.name != name) {
      row.name = name;
      row.labels = promapi::LabelText({{label_, name}});
      row.values.fill(0);
    }
    return row;
  }
  std::span<const Row> rows() const { return std::span(rows_).first(used_); }

 private:
  std::string_view label_;
  std::vector<Row> rows_;
  size_t used_ = 0;
};

/// A column of such a table as a family.
struct NodeColumn {
  std::string_view name;
  promapi::FamilyKind kind = promapi::FamilyKind::counter;
  std::string_view help;
  double divisor = 1;  ///< turns the kernel's unit into the family's
};

template <size_t Columns>
void write_columns(promapi::FamilyWriter& out, const std::array<NodeColumn, Columns>& columns,
                   std::span<const NodeRow<Columns>> rows) {
  for (size_t i = 0; i < Columns; ++i) {
    out.family(columns[i].name, columns[i].kind, columns[i].help);
    for (const auto& row : rows) {
      if (!std::isnan(row.values[i])) out.sample(row.labels, row.values[i] / columns[i].divisor);
    }
  }
}

}  // namespace assay::agent
