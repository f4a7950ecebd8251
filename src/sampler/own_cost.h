// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <assay/base/files.h>

namespace assay::sampler {

/// CPU seconds (all threads, user and system) and resident bytes of this very process.
class OwnCost {
 public:
  OwnCost();
  double cpu_seconds() const;
  /// 0 when it cannot be read.
  double resident_bytes() const;

 private:
  Fd statm_;
  double page_size_;
};

}  // namespace assay::sampler
