// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "docker/docker_args.h"
#include "docker/policy.h"

#include <filesystem>
#include <vector>

#include <assay/base/files.h>

namespace assay::launch {

/// The mounts that a policy allows by a file's name in folders where others may write. Whoever may
/// write there can change what a path leads to at any moment, so the container gets a copy of the
/// very file that was judged. Destroying this removes the copies: a container that has started
/// keeps what it has mounted.
class NamedFiles {
 public:
  /// Opens what such mounts name and has each say where that really is; judge this then.
  static NamedFiles open(const Policy& policy, DockerArgs& args);
  NamedFiles(NamedFiles&&) = default;
  NamedFiles& operator=(NamedFiles&&) = delete;
  ~NamedFiles();

  /// Copies what was opened into a folder that is made for it, and mounts the copies instead.
  Result<void> copy_to(const std::filesystem::path& folder, DockerArgs& args);

 private:
  struct Opened {
    size_t mount;  ///< its place in the arguments
    Fd file;
  };

  NamedFiles() = default;

  std::vector<Opened> files_;
  std::filesystem::path folder_;
};

}  // namespace assay::launch
