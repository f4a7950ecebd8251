// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "rules.h"
#include "work.h"

namespace assay::model {

/// What is known of a type of operator.
struct Operator {
  rules::Rule rule = nullptr;
  work::WorkOf work = nullptr;
};

/// Nothing for those that are not known. Control flow (If, Loop, Scan) is none of these.
const Operator* find_operator(const Node& node);
size_t known_operators();

}  // namespace assay::model
