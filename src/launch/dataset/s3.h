// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <assay/launch/dataset.h>

namespace assay::launch {

/// All objects of s3://bucket/prefix, each at its key's path below the prefix; when the prefix is
/// the key of an object, that one as a file.
Result<Dataset> fetch_s3(const std::string& source, const DatasetCache& cache,
                         const Progress& progress);

}  // namespace assay::launch
