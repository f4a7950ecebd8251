// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "docker/docker_args.h"
#include "docker/engine.h"
#include "process/owner.h"

#include <map>
#include <string>

#include <assay/launch/launcher.h>

namespace assay::launch {

/// By these a container is known to be ours.
inline constexpr const char* kSessionLabel = "assay.session";
inline constexpr const char* kRunLabel = "assay.run";
inline constexpr const char* kOwnerLabel = "assay.owner";
inline constexpr const char* kMachineLabel = "assay.machine";

/// Where an app finds what a session gives it.
inline constexpr const char* kDataFolder = "/data";
inline constexpr const char* kSocketFolder = "/metrics";
inline constexpr const char* kClientFolder = "/assay";
inline constexpr const char* kDataConfigFile = "/run/waggle/data-config.json";
inline constexpr const char* kPublishedFolder = "/run/assay/published";

/// {session, run, owner, machine} as labels.
Json labels(const std::string& session_id, int run, const Owner& owner);

/// "NAME=value" for each, and the marks of what we started, which cannot be overridden.
Json environment_list(std::map<std::string, std::string> env, const std::string& session_id,
                      int run, const Owner& owner);

/// The body of POST /containers/create. What the user mounts at a place of ours, or a folder
/// of the user's above it, wins over ours.
Json container_body(const Request& request, const DockerArgs& args, const ImageInfo& image,
                    const Owner& owner);

}  // namespace assay::launch
