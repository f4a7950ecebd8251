// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "live_table.h"
#include "reports.h"

#include <string>

namespace assay::agent {

/// The app that a caller means.
struct AppFound {
  int status = 200;   ///< 404: there is none; 409: there are several
  std::string error;  ///< why not, in a sentence
  std::string path = {};
};

/// `app` is the path of its control group, its container id (12 characters of it or more), or its
/// name when no other that runs has the same.
AppFound find_app(const std::string& app, const LiveTable& table, const Reports& reports);

}  // namespace assay::agent
