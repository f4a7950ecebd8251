// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

/// Where a path of this machine really leads.
namespace assay::launch {

/// Without links, `.` and `..`; nothing when it does not exist or cannot be reached.
std::optional<std::filesystem::path> real_path(const std::filesystem::path& path);
/// The same, but a path that does not exist is only cleaned of `.` and `..`.
std::filesystem::path real_or_clean_path(const std::filesystem::path& path);

/// Whether `path` is `folder` or below it; both are real paths.
bool is_within(const std::filesystem::path& path, const std::filesystem::path& folder);

/// Why a real path gives away the machine: "it is the whole machine", "a container engine listens
/// below it"; empty: it does not.
std::string danger_of(const std::filesystem::path& path,
                      const std::vector<std::filesystem::path>& engine_sockets);

/// Why a real path is no data: that, or it is, holds or is in a folder of the system or of keys, or
/// services listen in it; empty: it may be data.
std::string why_no_dataset(const std::filesystem::path& path,
                           const std::vector<std::filesystem::path>& engine_sockets);

}  // namespace assay::launch
