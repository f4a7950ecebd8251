// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "docker/engine.h"

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include <assay/launch/launcher.h>

namespace assay::launch {

/// A container to create and start.
struct NewContainer {
  std::string name;
  std::string group;  ///< of a control group to make above its own; empty: none
  std::filesystem::path stdout_file;
  std::filesystem::path stderr_file;  ///< may be the same
  Limits limits;                      ///< what of them is told or applied from outside
};

/// Creates it by the body of POST /containers/create, takes its output and starts it; it is removed
/// when that fails, and else when what is returned is released or destroyed.
Result<std::unique_ptr<RunningApp>> start_container(Engine& engine, const NewContainer& wanted,
                                                    Json body);

/// Whether a process that an engine names is the container's and on this machine.
bool is_here(const std::string& id, pid_t pid);
Failure not_here(const net::Endpoint& endpoint);

}  // namespace assay::launch
