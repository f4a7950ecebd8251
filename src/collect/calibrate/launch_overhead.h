// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "calibrate/slices.h"

#include <filesystem>
#include <string>

#include <assay/base/result.h>

namespace assay::collect {

/// A model so small that engines take their time for going from operator to operator.
class TinyModel {
 public:
  static Result<TinyModel> make();
  TinyModel(TinyModel&& other) noexcept;
  TinyModel& operator=(TinyModel&&) = delete;
  ~TinyModel();

  struct Timed {
    std::string engine;  ///< as it calls itself
    Measured seconds;    ///< for one operator
  };
  Result<Timed> time_on(const std::string& engine, int threads, double seconds) const;

 private:
  TinyModel(std::filesystem::path folder, double operators)
      : folder_(std::move(folder)), operators_(operators) {}
  std::filesystem::path folder_;  ///< a temporary one
  double operators_;
};

}  // namespace assay::collect
