// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <assay/base/process_id.h>

namespace assay::launch {

/// The environment variables that mark what we started: "session/run" and an Owner's text.
inline constexpr std::string_view kRunVariable = "ASSAY_RUN";
inline constexpr std::string_view kOwnerVariable = "ASSAY_OWNER";

/// The `assay` process that something belongs to.
using Owner = ProcessId;

/// "assay-<session>-<run>.<owner>", with whatever cannot be in a folder's name replaced.
std::string group_name(std::string_view session_id, int run, const Owner& owner);
/// The owner in a name that group_name made; nothing for any other name.
std::optional<Owner> group_owner(std::string_view name);

}  // namespace assay::launch
