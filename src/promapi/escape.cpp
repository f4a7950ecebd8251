// SPDX-License-Identifier: Apache-2.0
#include "escape.h"

namespace assay::promapi {

char* write_escaped(char* at, std::string_view text, bool quotes) {
  for (const char c : text) {
    const bool newline = c == '\n';
    if (newline || c == '\\' || (quotes && c == '"')) *at++ = '\\';
    *at++ = newline ? 'n' : c;
  }
  return at;
}

}  // namespace assay::promapi
