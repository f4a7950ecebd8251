// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <assay/base/text.h>
#include <assay/base/wording.h>

namespace assay::cli {

/// A check of an option: what is wrong with a number that has to be above 0; empty: nothing.
inline std::string is_positive(const std::string& number) {
  const auto value = parse_double(number);
  return value && *value > 0 ? "" : in_quotes(number) + " is no number above 0";
}

}  // namespace assay::cli
