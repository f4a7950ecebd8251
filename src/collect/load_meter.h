// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include <assay/base/files.h>
#include <assay/base/result.h>
#include <assay/collect/share.h>

namespace assay::probes {
class GroupReader;
}

namespace assay::collect {

/// Time of some cores, in any unit.
struct CpuTimes {
  double idle = 0;
  double all = 0;
};
/// Of these cores, from the text of /proc/stat.
CpuTimes parse_cpu_times(std::string_view stat, const std::vector<int>& cpus);

/// How busy the device is, in percent of all its cores: all that is not idle, as Prometheus would
/// tell it. Of a share with a quota it is what those inside used of that.
class LoadMeter {
 public:
  explicit LoadMeter(const Share& share, SysRoot root = SysRoot());
  LoadMeter(const LoadMeter&) = delete;
  LoadMeter& operator=(const LoadMeter&) = delete;
  ~LoadMeter();

  CpuTimes read() const;
  /// Nothing where either could not be read.
  static std::optional<double> percent(const CpuTimes& before, const CpuTimes& after);

  /// Watches until the load stays the same from one window to the next, and gives its mean over the
  /// two; after a while the last one whatever it is. Nothing where it cannot be measured. `wanted`
  /// is asked in between.
  Result<std::optional<double>> settled(const std::function<bool()>& wanted) const;
  /// The load of one window.
  std::optional<double> window() const;

 private:
  SysRoot root_;
  std::vector<int> cpus_;
  double quota_;
  std::unique_ptr<probes::GroupReader> group_;
};

}  // namespace assay::collect
