// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <assay/base/result.h>
#include <assay/kubeapi/follower.h>

namespace assay::kubeapi {

/// One answer of a list.
template <class T>
struct Page {
  std::vector<T> items;
  std::string version;
  std::string next;  ///< asks for the page behind it; empty: this is the last one
};

/// How a list and a watch of T are asked for.
template <class T>
struct Accepted {
  static constexpr std::string_view kList = "application/json";
  static constexpr std::string_view kWatch = "application/json";
};
/// Servers that cannot leave out the rest send all.
template <>
struct Accepted<ObjectMeta> {
  static constexpr std::string_view kList =
      "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";
  static constexpr std::string_view kWatch =
      "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";
};

/// T is a Pod, a Node or an ObjectMeta. Those without a name or uid are left out.
template <class T>
Result<Page<T>> read_page(std::string_view text);
/// A line of a watch. An error: it is none.
template <class T>
Result<WatchEvent<T>> read_event(std::string_view line);

}  // namespace assay::kubeapi
