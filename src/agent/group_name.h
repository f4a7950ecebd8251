// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace assay::agent {

enum class GroupKind : uint8_t {
  container,
  service,  ///< of systemd
  run,      ///< of `assay run`
  other,    ///< slices, pods, and what lives inside of the others
};

/// What the path of a control group tells about who lives in it.
struct GroupName {
  GroupKind kind = GroupKind::other;
  std::string id;       ///< of a container in 64 digits, else the group's own name
  std::string runtime;  ///< "docker", "containerd", "cri-o", "podman"; empty: not known
  std::string pod_uid;  ///< of Kubernetes; empty: none
};

/// Of a path below the hierarchy's top: "/docker/4f2a…", "/system.slice/ssh.service".
GroupName name_group(std::string_view path);

}  // namespace assay::agent
