// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <assay/probes/probe.h>

namespace assay::probes {

/// `processes` of the node, by listing /proc about once a second.
std::unique_ptr<Probe> make_process_count_probe(const SysRoot& root);

}  // namespace assay::probes
