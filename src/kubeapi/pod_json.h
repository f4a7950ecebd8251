// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <assay/base/result.h>
#include <assay/kubeapi/client.h>

namespace assay::kubeapi {

/// One answer of a list.
struct PodPage {
  std::vector<Pod> pods;
  std::string version;
  std::string next;  ///< asks for the page behind it; empty: this is the last one
};

Result<PodPage> read_page(std::string_view text);
/// A line of a watch. An error: it is none.
Result<WatchEvent> read_event(std::string_view line);
/// What the server says went wrong, shortened; empty when it says nothing.
std::string message_of(std::string_view status);

}  // namespace assay::kubeapi
