// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "live_app.h"

#include <string_view>

namespace assay::agent {

/// Adds what Docker's answer to "inspect" tells about a container: name, image, labels and, by
/// these, its place in Kubernetes. False when the answer is none.
bool take_docker_inspect(std::string_view body, AppIdentity& identity);

/// Adds what the file config.json that a container was started with tells, where containerd or
/// CRI-O wrote it.
bool take_oci_config(std::string_view text, AppIdentity& identity);

}  // namespace assay::agent
