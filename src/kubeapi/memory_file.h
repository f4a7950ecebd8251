// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include <assay/base/files.h>
#include <assay/base/result.h>

namespace assay::kubeapi {

/// A file in memory with a certificate or a key, for a library that wants a file's name. It is gone
/// with its last owner.
Result<std::shared_ptr<const Fd>> keep_in_memory(const char* name, const std::string& text);
/// Its name, for this process alone.
std::filesystem::path path_in_memory(const Fd& file);

}  // namespace assay::kubeapi
