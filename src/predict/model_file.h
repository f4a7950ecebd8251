// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "teller.h"

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include <assay/base/result.h>
#include <assay/predict/runs.h>

namespace assay::predict {

/// The form of the file: XGBoost's own, with what XGBoost does not know under the key "assay".
/// docs/model-file.md has it in words. `validation` is kept as it is.
std::string model_file_text(const Trained& trained, const std::string& booster, const Runs& runs,
                            const nlohmann::json& validation);

/// Everything that does not hold together is refused; `name` is for messages.
Result<Trained> read_model_file(const std::string& name, std::string_view text);

/// What a file was learned from, and how good it was.
struct Origin {
  Runs runs;
  nlohmann::json validation;
};
Result<Origin> read_origin(const std::string& name, std::string_view text);

}  // namespace assay::predict
