// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "top_frame.h"

#include <string_view>

#include <assay/base/result.h>

namespace assay::cli {

/// The whole terminal, taken over while it lives: the other screen, no cursor, keys as they come.
/// What was there comes back at its end, and when this process crashes. One at a time.
class TopScreen {
 public:
  /// Whether standard input and output are a terminal that can be taken over.
  static bool is_possible();

  TopScreen();
  TopScreen(const TopScreen&) = delete;
  TopScreen& operator=(const TopScreen&) = delete;
  ~TopScreen() { leave(); }

  void enter();
  void leave();
  ScreenSize size() const;
  /// All in one write, so that nothing half-drawn is seen.
  Result<void> write(std::string_view bytes) const;
};

}  // namespace assay::cli
