// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include <assay/base/result.h>

namespace assay::cluster {

/// A Kubernetes manifest, in YAML or JSON, as JSON: plain numbers, truths and nothing as such, all
/// in quotes as text. `file` is for messages.
Result<nlohmann::json> manifest_json(const std::string& text, const std::string& file);

/// What no cluster would take of any container in it: one without an image, or an amount that is
/// none.
Result<void> check_containers(const nlohmann::json& manifest);

/// The most that a pod which this manifest makes asks for of a resource; 0: nothing, or nobody
/// knows.
double most_requested(const nlohmann::json& manifest, const std::string& resource);

}  // namespace assay::cluster
