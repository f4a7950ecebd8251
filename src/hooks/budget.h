// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace assay::hooks {

/// Bytes that may be held; one with a parent takes from both. What was taken is given back at its
/// end.
class Budget {
 public:
  explicit Budget(size_t limit, Budget* parent = nullptr) : limit_(limit), parent_(parent) {}
  Budget(const Budget&) = delete;
  Budget& operator=(const Budget&) = delete;
  ~Budget() {
    if (parent_ != nullptr) parent_->used_ -= used_;
  }

  /// False, and nothing taken, when that would be too much.
  bool take(size_t bytes) {
    if (bytes > limit_ - used_) return false;
    if (parent_ != nullptr && !parent_->take(bytes)) return false;
    used_ += bytes;
    return true;
  }
  size_t used() const { return used_; }

 private:
  size_t limit_;
  Budget* parent_;
  size_t used_ = 0;
};

}  // namespace assay::hooks
