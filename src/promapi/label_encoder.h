// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <assay/promapi/labels.h>

namespace assay::promapi {

/// Writes the labels of a series as remote write has them, from the text that a scrape gets. All
/// that it needs is kept from one to the next. Making them anew each time takes half the memory
/// that remembering them by their text would, and a microsecond.
class LabelEncoder {
 public:
  /// `external` labels are added to each series that has none of that name.
  explicit LabelEncoder(std::span<const Label> external);

  /// Of the series `name` and `suffix`; until the next call.
  std::string_view encode(std::string_view name, std::string_view suffix, const LabelText& labels,
                          std::span<const Label> extra);

 private:
  struct Part {
    std::string_view name;
    std::string_view value;
    bool escaped = false;  ///< as within the text
  };
  void add(const Part& part);
  void add_text(std::string_view text);
  void write(const Part& part);

  const CleanLabels external_;
  std::vector<Part> parts_;  ///< in the order of their names, each once
  std::string name_;
  std::string value_;
  std::string encoded_;
};

}  // namespace assay::promapi
