// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace assay::kubeapi {

/// What is wrong with what is to be the name of a new object, as a sentence; empty: nothing.
std::string wrong_name(const std::string& name);

/// The same for a namespace.
std::string wrong_namespace(const std::string& name);

}  // namespace assay::kubeapi
