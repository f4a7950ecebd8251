// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include <assay/model/trace.h>

namespace assay::model {

/// "25.6 M": three digits and a letter.
std::string brief(double value, std::string_view unit = "");
/// "1x3x224x224"; "?" for what is not known.
std::string shape_text(const Known& known);
/// At most `width` characters for a terminal, with dots where some are missing; what is no plain
/// letter becomes a question mark.
std::string shortened(std::string text, size_t width);

}  // namespace assay::model
