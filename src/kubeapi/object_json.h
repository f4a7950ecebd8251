// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <string_view>

#include <assay/base/result.h>
#include <assay/kubeapi/objects.h>

namespace assay::kubeapi {

/// What is missing or of another type counts as not told. One without a name or uid is none.
ObjectMeta read_meta(const nlohmann::json& object);
Pod read_pod(const nlohmann::json& object);
Node read_node(const nlohmann::json& object);

/// Of an answer that is one object, whatever its kind.
Result<ObjectMeta> read_object(std::string_view text);
/// Which annotations belong to the manager of that name, as the server keeps its books.
std::set<std::string> owned_annotations(const nlohmann::json& object, const std::string& manager);

}  // namespace assay::kubeapi
