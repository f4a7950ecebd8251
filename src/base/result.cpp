// SPDX-License-Identifier: Apache-2.0
#include <system_error>

#include <assay/base/result.h>

namespace assay {

Failure refused_errno(std::string message, int errno_value) {
  message += ": " + std::generic_category().message(errno_value);
  return refused(std::move(message));
}

}  // namespace assay
