// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "docker/engine.h"
#include "docker/policy.h"
#include "process/owner.h"

#include <memory>
#include <string>
#include <vector>

#include <assay/launch/launcher.h>

namespace assay::launch {

/// As Containers::start_needs. `keeps_groups` is the engine's.
Result<std::unique_ptr<Needs>> start_needs(const net::Endpoint& endpoint, bool keeps_groups,
                                           const NeedsRequest& request, const Waiting& waiting);

/// Why these cannot run beside an app with these arguments, one sentence each: a network that
/// nobody else can join, or what the policy refuses.
std::vector<std::string> refused_needs(const Policy& policy, const DockerArgs& args,
                                       const std::vector<Need>& needs);

/// The body of POST /containers/create. `hosts` are "name:address" of those who run already.
Json need_body(const Need& need, const NeedsRequest& request, const Owner& owner,
               const std::string& network, const std::vector<std::string>& hosts);

/// "port 5672 and "ready" in its log"; empty when running is enough.
std::string ready_sign(const Need& need);

/// The kernel keeps SIGTERM away from a container's first process unless it asked for it: many
/// programs do not, and waiting for their end would be waiting for nothing.
bool hears_sigterm(const SysRoot& root, pid_t pid);

}  // namespace assay::launch
