// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include <assay/base/time.h>

namespace assay::session {

/// How often an app on another machine is measured: its agent tells once a second.
inline Nanoseconds remote_interval(Nanoseconds wanted) {
  return std::max<Nanoseconds>(wanted, std::chrono::seconds(1));
}

}  // namespace assay::session
