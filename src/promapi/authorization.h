// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <assay/base/result.h>
#include <assay/promapi/remote_write.h>

namespace assay::promapi {

/// The header line by which a request shows who sends it; empty when nothing is configured. Errors
/// do not hold what the file does.
Result<std::string> authorization(const RemoteWriteOptions& options);

}  // namespace assay::promapi
