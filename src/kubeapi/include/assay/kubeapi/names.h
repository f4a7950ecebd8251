// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace assay::kubeapi {

/// What is wrong with what is to be the name of a new object, as a sentence; empty: nothing.
std::string wrong_name(const std::string& name);

/// The same for a namespace.
std::string wrong_namespace(const std::string& name);

/// And for the key of a label or what is counted, as "nvidia.com/gpu".
std::string wrong_key(const std::string& key);

}  // namespace assay::kubeapi
