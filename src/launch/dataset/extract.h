// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>

#include <assay/base/result.h>

namespace assay::launch {

/// By its name: .tar, .tar.gz, .tgz, .tar.xz, .txz, .tar.zst, .tzst, .zip.
bool is_archive_name(std::string_view name);

struct ExtractRules {
  uint64_t max_bytes = UINT64_MAX;
  uint64_t max_entries = 2'000'000;
  /// Asked with the bytes unpacked so far; false ends it.
  std::function<bool(uint64_t)> go_on = [](uint64_t) { return true; };
};

/// Unpacks into a folder that is there and empty. Whatever the archive says, nothing is written
/// outside of it and no link leads out of it: absolute names, "..", such links and devices are
/// errors. Modes are 0644 and 0755; owners and times are not kept. What was unpacked before an
/// error stays.
Result<void> extract(const std::filesystem::path& archive, const std::filesystem::path& folder,
                     const ExtractRules& rules);
/// The same from memory.
Result<void> extract_bytes(std::string_view archive, const std::filesystem::path& folder,
                           const ExtractRules& rules);

}  // namespace assay::launch
