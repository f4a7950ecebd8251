// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "live_table.h"
#include "reports.h"

#include <assay/promapi/exposition.h>

namespace assay::agent {

/// container_*: cAdvisor's names and labels.
void write_containers(promapi::Exposition& out, const LiveTable& table);

/// assay_app_*: what apps report about themselves.
void write_reports(promapi::Exposition& out, const Reports& reports);

}  // namespace assay::agent
