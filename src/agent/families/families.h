// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "decide/decisions.h"
#include "live_table.h"
#include "reports.h"

#include <assay/promapi/family_writer.h>
#include <assay/samples/records.h>

namespace assay::agent {

/// container_*: cAdvisor's names and labels.
void write_containers(promapi::FamilyWriter& out, const LiveTable& table);
/// machine_*: what cAdvisor tells of the machine beside them.
void write_machine(promapi::FamilyWriter& out, const Device& device);

/// assay_app_*: what apps report about themselves.
void write_reports(promapi::FamilyWriter& out, const Reports& reports);

/// assay_app_goal_*, assay_app_verdict: goals and what is decided about them.
void write_decisions(promapi::FamilyWriter& out, const Decisions& decisions, const LiveTable& table,
                     const Reports& reports);

}  // namespace assay::agent
