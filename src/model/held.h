// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <assay/model/trace.h>

/// Bytes of memory that a copy takes, roughly.
namespace assay::model {

size_t held_bytes(const Known& known);
size_t held_bytes(const Attribute& attribute);
size_t held_bytes(const Node& node);

}  // namespace assay::model
