// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace assay::promapi {

constexpr size_t most_escaped(size_t bytes) {
  return 2 * bytes;
}

/// Writes the text with backslashes and line ends escaped, and double quotes where asked. There
/// must be room for most_escaped(); gives the end of what was written.
char* write_escaped(char* at, std::string_view text, bool quotes);

}  // namespace assay::promapi
