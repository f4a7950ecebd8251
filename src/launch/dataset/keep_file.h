// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dataset/cache.h"

namespace assay::launch {

/// Makes a whole and verified file the entry's content: unpacked when `name` is an archive's, else
/// under this name. `file` is taken away when it is in the work folder.
Result<Dataset> keep_file(const Cache& cache, const WorkFolder& work, const std::string& key,
                          const std::filesystem::path& file, const std::string& name, Kept kept,
                          const Progress& progress);

}  // namespace assay::launch
