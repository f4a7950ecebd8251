// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace assay::promapi {

/// Appends one label of a series as the messages of remote write have it.
void write_label(std::string& to, std::string_view name, std::string_view value);

}  // namespace assay::promapi
