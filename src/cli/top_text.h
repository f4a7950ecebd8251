// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

/// Text for the cells of a screen. Widths are those of the C library's locale: in another than
/// UTF-8 only ASCII is shown.
namespace assay::cli {

/// Chooses the characters of the environment; true when they are UTF-8, else ASCII is left.
bool use_environment_characters();

/// What a terminal shows without obeying it: control characters and what the locale lacks become
/// '?', characters without a width of their own are left out.
std::string safe_text(std::string_view foreign);

/// Columns that safe text takes.
size_t text_columns(std::string_view safe);

/// The longest beginning that fits. Where a wide character does not fit whole, a column stays free.
std::string_view text_beginning(std::string_view safe, size_t columns);

/// Exactly `columns` wide: cut, on the left with a mark, or filled with spaces behind or before it.
std::string left_cell(std::string_view safe, size_t columns);
std::string right_cell(std::string_view safe, size_t columns);

}  // namespace assay::cli
