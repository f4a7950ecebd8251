// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include <assay/base/result.h>
#include <assay/model/inspect.h>

namespace assay::serve {

constexpr size_t kLongestName = 1000;  ///< of a model

/// What existing callers send of a model.
struct OldCall {
  std::string model;
  model::Counts counts;
};

/// From {"model", "conv_layers", …}: the name a text, all others numbers of at least 0, however
/// large; none may be missing. What is none is an error that names the field.
Result<OldCall> parse_old_call(const std::string& body);
/// The same, read already.
Result<OldCall> old_call_of(const nlohmann::json& document);

}  // namespace assay::serve
