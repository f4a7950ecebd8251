// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <assay/base/result.h>
#include <assay/kubeapi/discovery.h>
#include <assay/kubeapi/objects.h>

namespace assay::kubeapi {

/// The resources of an answer to /api/v1 or /apis/batch/v1 with which all of the verbs can be done,
/// without parts of resources.
Result<std::vector<Resource>> read_resources(std::string_view text, const Verbs& verbs = {});
/// The groups of an answer to /apis, each with its versions, the preferred one first. Names that
/// cannot be part of a path are left out.
struct Group {
  std::string name;
  std::vector<std::string> versions;
};
Result<std::vector<Group>> read_groups(std::string_view text);
/// The version that the server prefers, of an answer to /apis/batch.
Result<std::string> read_preferred(std::string_view text);

}  // namespace assay::kubeapi
