// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "act/pod_limits.h"
#include "control.h"
#include "live_app.h"

#include <boost/asio/awaitable.hpp>
#include <filesystem>
#include <string>
#include <string_view>

#include <assay/base/files.h>
#include <assay/base/result.h>
#include <assay/base/time.h>
#include <assay/probes/group.h>

namespace assay::agent {

/// What has to be sent to Docker's /containers/ID/update, given its answer to "inspect" and the
/// limits of now: a container started with --cpus must be changed by the same means. Empty when the
/// answer is none.
std::string docker_update(std::string_view inspected, const LimitChange& change,
                          const probes::GroupLimits& now);

/// Writes the limit into the group's own files.
Result<void> write_limits(const SysRoot& root, const probes::CgroupPaths& group,
                          const LimitChange& change);

/// By what limits can be changed, and how.
struct Means {
  SysRoot root;
  std::filesystem::path docker;        ///< its socket; empty: none
  PodLimits* pods = nullptr;           ///< null: there is no cluster
  bool restores = false;               ///< sets what was before: that is never taken back
  const bool* hurries = nullptr;       ///< once true, nodes are not waited for
  Milliseconds node_patience{15'000};  ///< for a node to carry out what its cluster has taken
};

/// By the cluster where it can, by Docker where it runs the container, else through the files of
/// the control group. 0 takes a limit away. An error that is `temporary` may have changed
/// something.
boost::asio::awaitable<Result<void>> change_limits(Means means, AppIdentity app,
                                                   probes::CgroupPaths group,
                                                   probes::GroupLimits now, LimitChange change);

}  // namespace assay::agent
