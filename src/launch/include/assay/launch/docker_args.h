// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <assay/base/result.h>

namespace assay::launch {

/// Whether these arguments of `docker run` can be had; all that cannot is told in one message,
/// which shows no value of a variable. What a policy allows of them is another question.
Result<void> check_docker_args(const std::vector<std::string>& words);

}  // namespace assay::launch
