// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include <assay/kubeapi/annotations.h>

namespace assay::kubeapi {

/// The whole wish, for a server-side apply. JSON that also old readers of YAML take.
std::string apply_body(const ObjectName& object, const Annotations& annotations);

struct MergePatch {
  std::string body = {};   ///< empty: all is as it should be
  std::string taken = {};  ///< a key that somebody else has set; the body is empty then
};
/// What changes the object, as the server has it now, into one with these annotations of ours. It
/// holds only for this version of the object.
MergePatch merge_patch(std::string_view object, const Annotations& annotations,
                       const AnnotationOptions& options);

}  // namespace assay::kubeapi
