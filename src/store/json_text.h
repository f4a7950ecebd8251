// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include <assay/base/result.h>
#include <assay/samples/records.h>
#include <assay/samples/series.h>

namespace assay::store {

/// One line; bytes that are not UTF-8 are replaced, never an exception.
std::string json_text(const Json& json);
Result<Json> parse_json(std::string_view text);

std::string series_text(const SeriesInfo& info);
Result<SeriesInfo> parse_series(std::string_view text);

}  // namespace assay::store
