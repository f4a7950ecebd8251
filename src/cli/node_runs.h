// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "job_options.h"

#include <assay/base/result.h>
#include <assay/session/session.h>

namespace assay::cli {

/// What of a matrix is printed.
struct MatrixPrint {
  bool json = false;
  bool quiet = false;
};

/// One session on each kind of node that --each-node-like names, then the matrix. Gives the worst
/// exit code of them.
Result<int> run_on_each_kind(const session::Spec& spec, const std::string& each_node_like,
                             const launch::JobSettings& settings, const MatrixPrint& print,
                             const session::Options& options, session::Listener& listener);

}  // namespace assay::cli
