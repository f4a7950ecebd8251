// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "control.h"
#include "live_app.h"

#include <boost/asio/awaitable.hpp>
#include <filesystem>
#include <string>
#include <string_view>

#include <assay/base/files.h>
#include <assay/base/result.h>
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

/// By Docker where it runs the container, else through the files of the control group. 0 takes a
/// limit away.
boost::asio::awaitable<Result<void>> change_limits(SysRoot root, std::filesystem::path docker,
                                                   AppIdentity app, probes::CgroupPaths group,
                                                   probes::GroupLimits now, LimitChange change);

}  // namespace assay::agent
