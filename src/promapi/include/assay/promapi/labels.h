// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::promapi {

struct Label {
  std::string_view name;
  std::string_view value;
};

/// Labels as Prometheus takes them: names and values valid, in the order of the names, none empty
/// and none twice. Of two that end up with the same name the first one given stays.
using CleanLabels = std::vector<std::pair<std::string, std::string>>;
CleanLabels clean_labels(std::span<const Label> labels);

/// A metric's name with every character that may not be in one replaced by "_"; never empty.
std::string sanitized_name(std::string_view name);
/// The same for a label's name, which has no ":" and begins with at most one "_", since more are
/// Prometheus' own.
std::string sanitized_label_name(std::string_view name);
/// The text with each byte that is not UTF-8 replaced by "?": Prometheus refuses the whole scrape
/// for one such byte.
std::string valid_utf8(std::string_view text);

/// The labels of one series as they stand between the braces, cleaned, escaped and joined once when
/// the series appears, so that a scrape only copies them.
class LabelText {
 public:
  LabelText() = default;
  explicit LabelText(std::span<const Label> labels);
  LabelText(std::initializer_list<Label> labels) : LabelText(std::span(labels)) {}

  std::string_view text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace assay::promapi
