// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sqlite/database.h"

#include <span>

#include <assay/base/result.h>

namespace assay::store {

/// Step i brings a file from version i to version i + 1. A step that has been released never
/// changes.
std::span<const char* const> schema_steps();

/// Brings a file to the version after the last step, all or nothing, also when several processes do
/// it at once. Refuses files of another program and of a newer Assay.
Result<void> migrate(Database& db, std::span<const char* const> steps);

}  // namespace assay::store
