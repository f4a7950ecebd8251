// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include <assay/base/result.h>
#include <assay/samples/records.h>

namespace assay::launch {

/// The list for Waggle's data-config.json. Apps look a stream up in two ways: by the id taken as a
/// regular expression that their wish must begin with, where more than one that fits is an error,
/// and by the id as it is written. So an id stands there as it is; only one with special characters
/// is escaped, and only one that another id begins with is closed by "$".
Json data_config_of(std::span<const Stream> streams,
                    const std::function<std::string(const std::string& id)>& url);

/// Two streams of one id could not be told apart.
Result<void> check_ids(std::span<const Stream> streams);

/// As it stands in a URL's path: "top live" is "top%20live".
std::string url_encoded(std::string_view id);
/// The reverse; nonsense behind a "%" stays as it is.
std::string url_decoded(std::string_view text);

}  // namespace assay::launch
