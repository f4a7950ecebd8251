// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <assay/kubeapi/writes.h>
#include <assay/net/http_client.h>

namespace assay::kubeapi {

/// For an answer to a change; `verb` and the resource say what a role has to allow.
Result<Written> written(const Client& client, const net::Response& response, const char* verb,
                        const Resource& resource);

/// A field that an apply did not get.
struct FieldConflict {
  std::string field;    ///< ".metadata.annotations.assay.dev/x"
  std::string manager;  ///< whose it is
};
/// Empty: the server refused for another reason.
std::vector<FieldConflict> field_conflicts(std::string_view status);

/// The server's form of an object that is only its metadata.
constexpr std::string_view kOnlyMeta =
    "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";

/// JSON; nothing when there is none, or one with another uid.
Result<std::optional<std::string>> get_as(Client& client, const ObjectName& object,
                                          std::string_view accept, net::Stopper& stopper);

}  // namespace assay::kubeapi
