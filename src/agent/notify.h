// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace assay::agent {

/// Tells systemd, where it has started us and asked for it ($NOTIFY_SOCKET): "READY=1".
void notify_systemd(std::string_view state);
/// "RELOADING=1", with the time that has to be told with it; to be followed by "READY=1".
void notify_reloading();

}  // namespace assay::agent
