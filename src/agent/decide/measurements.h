// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "decide/decisions.h"
#include "live_app.h"

#include <filesystem>
#include <string>

#include <assay/base/result.h>

namespace assay::agent {

/// One line as pywaggle writes what a plugin publishes: name, time, value and what it is about.
std::string measurement_line(Timestamp time, const AppIdentity& app, const Decision& decision);

/// Writes decisions as measurements, for the rules of a node that read such. The file stays small:
/// one that is full gets ".1" behind its name, in the place of the one before.
class Measurements {
 public:
  explicit Measurements(std::filesystem::path file) : file_(std::move(file)) {}
  Result<void> write(const std::string& line);

  static constexpr uintmax_t kFull = 1U << 20U;

 private:
  std::filesystem::path file_;
};

}  // namespace assay::agent
