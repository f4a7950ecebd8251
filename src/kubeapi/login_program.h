// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "login.h"

#include <string>

namespace assay::kubeapi {

/// What it wrote to its standard output, in its patience at most and while it is wanted: then it is
/// ended, with all that it started. What it leaves running with its standard error is not waited
/// for. An error has its last words, and never what it wrote for us.
Result<std::string> run_login_program(const LoginCommand& command, const std::string& exec_info,
                                      const StillWanted& wanted = {});

}  // namespace assay::kubeapi
