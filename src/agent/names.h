// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "live_app.h"

#include <string_view>

#include <assay/base/files.h>

namespace assay::agent {

/// Adds what Docker's answer to "inspect" tells about a container: name, image, labels and, by
/// these, its place in Kubernetes. False when the answer is none.
bool take_docker_inspect(std::string_view body, AppIdentity& identity);

/// Adds what the file config.json that a container was started with tells, where containerd or
/// CRI-O wrote it.
bool take_oci_config(std::string_view text, AppIdentity& identity);

/// Adds what Podman's and CRI-O's list of containers tells about the one with this id.
bool take_storage_list(std::string_view text, AppIdentity& identity);

/// Adds what engines keep in files of this machine, where they do by default: containerd, CRI-O,
/// Podman. False when there is nothing about this container.
bool take_files(const SysRoot& root, AppIdentity& identity);

}  // namespace assay::agent
