// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

/// Text laid out for a terminal; every code point counts as one column.
namespace assay::report {

size_t display_width(std::string_view utf8);
/// At most `width` columns; what is longer ends in "…".
std::string fitted(std::string_view utf8, size_t width);
/// Filled with spaces up to `width` columns.
std::string left(std::string_view utf8, size_t width);
std::string right(std::string_view utf8, size_t width);

/// Words of `text` in lines of at most `columns`, the first behind `first`, the others behind
/// spaces of the same width. Longer words stay whole (a path must be copied), unless they exceed
/// the line by far.
std::string wrapped(std::string_view first, std::string_view text, size_t columns);

/// The first row is the head. The first column stands left, the others right; all columns are as
/// wide as their widest cell.
std::vector<std::string> table(const std::vector<std::vector<std::string>>& rows);

}  // namespace assay::report
