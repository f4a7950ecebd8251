// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <assay/probes/probe.h>

namespace assay::probes {

/// cpu_frequency_hertz per cpufreq policy (label "policy").
std::unique_ptr<Probe> make_frequency_probe(const SysRoot& root);
/// temperature_celsius per thermal zone (label "zone") and hwmon sensor (labels "chip", "sensor").
std::unique_ptr<Probe> make_temperature_probe(const SysRoot& root);

}  // namespace assay::probes
