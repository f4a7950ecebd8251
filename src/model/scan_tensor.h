// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fields.h"

namespace assay::model {

Tensor scan_tensor(std::string_view message, Progress& progress);
/// Its values as a tensor of the dense shape.
Tensor scan_sparse_tensor(std::string_view message, Progress& progress);
ValueInfo scan_value_info(std::string_view message, Progress& progress);

/// "key: value" of ONNX's maps of text.
std::pair<std::string, std::string> scan_entry(std::string_view message, Progress& progress);

}  // namespace assay::model
