// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <assay/probes/probe.h>
#include <assay/samples/series.h>

namespace assay::probes {

inline SysRoot sysroot(const std::string& name) {
  return SysRoot(std::string(ASSAY_SOURCE_DIR) + "/tests/sysroots/" + name);
}

/// Probes, opened and sampled as often as a test asks, with all they gave.
class Watched {
 public:
  explicit Watched(Probes probes);

  void sample();
  /// The last value of the series with that name and, when given, that text as a label; else NaN.
  double value(const std::string& name, const std::string& label = "") const;
  std::optional<Series> find(const std::string& name, const std::string& label = "") const;
  /// The reason for a gap whose name contains `what`; empty when there is none.
  std::string why_not(const std::string& what) const;
  const MemorySeries& series() const { return series_; }
  /// Reasons of probes that did not open, by probe.
  const std::map<std::string, std::string>& closed() const { return closed_; }

 private:
  Probes probes_;
  MemorySeries series_;
  ManualClock clock_{from_unix_ns(1'000'000'000)};
  std::vector<NotMeasured> gaps_;
  std::map<std::string, std::string> closed_;
};

}  // namespace assay::probes
