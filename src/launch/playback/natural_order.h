// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace assay::launch {

/// Whether `a` comes before `b` as a person would sort them: frame2 before frame10.
bool natural_less(std::string_view a, std::string_view b);

}  // namespace assay::launch
