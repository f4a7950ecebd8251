// SPDX-License-Identifier: Apache-2.0
#include "node_meter.h"

#include <algorithm>
#include <iterator>
#include <sys/statvfs.h>
#include <utility>

#include <assay/analysis/run_analysis.h>

namespace assay::collect {
namespace {

std::optional<double> mean_of(const analysis::RunAnalysis& run, const char* name) {
  const auto* found = analysis::find(run.node, name);
  return found == nullptr ? std::nullopt : std::optional(found->mean);
}

std::optional<double> times(std::optional<double> value, double factor) {
  if (value) *value *= factor;
  return value;
}

}  // namespace

NodeMeter::NodeMeter(Device device, const SysRoot& root)
    : device_(std::move(device)), root_(root) {}

void NodeMeter::sample() {
  for (const auto& probe : probes_) static_cast<void>(probe->sample(clock_, series_));
}

void NodeMeter::begin() {
  series_ = MemorySeries();
  probes_ = probes::node_probes(root_);
  auto power = probes::power_probes(root_);
  std::move(power.begin(), power.end(), std::back_inserter(probes_));
  std::erase_if(probes_, [&](const auto& probe) { return !probe->open(series_); });
  began_ = clock_.now();
  sample();
}

NodeUse NodeMeter::end() {
  sample();
  RunRecord run;
  run.status = RunStatus::finished;
  run.started = began_;
  run.ended = clock_.now();
  const auto found = analysis::analyze_run(run, device_, series_);
  if (!found) return {};
  const double length = seconds(run.duration());
  const double memory = static_cast<double>(std::max<uint64_t>(1, device_.memory_bytes));
  return {times(mean_of(*found, "memory_bytes"), 100 / memory),
          times(mean_of(*found, "disk_read_bytes_per_second"), length),
          times(mean_of(*found, "disk_write_bytes_per_second"), length),
          times(mean_of(*found, "power_watts"), length)};
}

std::optional<double> disk_percent() {
  struct statvfs disk {};
  if (::statvfs("/", &disk) != 0 || disk.f_blocks == 0) return std::nullopt;
  return 100 * (1 - static_cast<double>(disk.f_bavail) / static_cast<double>(disk.f_blocks));
}

}  // namespace assay::collect
