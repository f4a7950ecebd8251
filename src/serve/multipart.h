// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <assay/base/result.h>

namespace assay::serve {

/// One field of a form.
struct FormPart {
  std::string name;
  std::string filename;   ///< empty: a plain value
  std::string_view data;  ///< in the body
};

bool is_multipart(std::string_view content_type);

/// The parts of a body of type multipart/form-data (RFC 7578), which must outlive them. What is
/// none, is cut off, or has more than a few parts is an error.
Result<std::vector<FormPart>> parse_multipart(std::string_view content_type, std::string_view body);

/// The last part of a name that a caller gave its file, with nothing in it that could lead
/// elsewhere or confuse a terminal; never empty.
std::string safe_filename(std::string_view name);

}  // namespace assay::serve
