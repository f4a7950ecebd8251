// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

#include <assay/base/result.h>
#include <assay/model/trace.h>

namespace assay::cli {

/// --dim NAME=N, for dimensions that a model's file only names.
void add_dim_option(CLI::App& command, std::vector<std::string>& words);
Result<model::TraceOptions> read_dims(const std::vector<std::string>& words);

}  // namespace assay::cli
