// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <assay/base/files.h>
#include <assay/base/time.h>

namespace assay::agent {

/// What the processor draws, by the energy counters of its packages (RAPL): the mean since the
/// question before.
class CpuPower {
 public:
  CpuPower(const SysRoot& root, const Clock& clock);

  /// Nothing at the first question, and where there is no counter that we may read. A question
  /// within a tenth of a second of the one before gets the same answer, since several may ask.
  std::optional<double> watts();

 private:
  struct Package {
    Fd energy;
    double range = 0;  ///< where the counter begins anew, in microjoules
    double last = 0;
  };
  std::optional<double> microjoules_since_last();

  const Clock& clock_;
  std::vector<Package> packages_;
  Timestamp asked_{};
  std::optional<double> watts_;
};

/// The batteries that run the machine, not those of its mouse.
class Battery {
 public:
  explicit Battery(const SysRoot& root);

  /// How full, from 0 to 100, as the mean of all; nothing where there is none.
  std::optional<double> percent() const;
  /// Whether something feeds the machine from outside.
  bool is_plugged() const;

 private:
  std::vector<Fd> charges_;
  std::vector<Fd> states_;   ///< of the batteries, as a word
  std::vector<Fd> outside_;  ///< 1: it delivers
};

}  // namespace assay::agent
