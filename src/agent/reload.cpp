// SPDX-License-Identifier: Apache-2.0
#include "reload.h"

namespace assay::agent {

std::vector<std::string_view> keep_fixed(const Settings& present, Settings& fresh) {
  std::vector<std::string_view> kept;
  const auto keep = [&](std::string_view name, auto Settings::*member) {
    if (fresh.*member != present.*member) kept.push_back(name);
    fresh.*member = present.*member;
  };
  keep("listen", &Settings::listen);
  keep("socket", &Settings::socket);
  keep("hooks", &Settings::hooks);
  keep("families.services", &Settings::services);
  keep("remote_write", &Settings::remote_write);
  keep("targets_file", &Settings::targets_file);
  keep("kubernetes", &Settings::kubernetes);
  keep("advice_file", &Settings::advice_file);
  keep("state", &Settings::state);
  return kept;
}

}  // namespace assay::agent
