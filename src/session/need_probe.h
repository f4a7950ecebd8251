// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <assay/probes/probe.h>

namespace assay::session {

/// The probes of an app for what runs beside it: their series have Scope::need and its name as the
/// label `need`. When it ends, they have nothing more to say, and that is no gap.
probes::Probes need_probes(const SysRoot& root, const std::string& name,
                           const probes::AppTarget& target);

}  // namespace assay::session
