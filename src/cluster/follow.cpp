// SPDX-License-Identifier: Apache-2.0
#include "follow.h"

#include <algorithm>
#include <chrono>

namespace assay::cluster {

bool wait(Nanoseconds time, const net::Stopper& stopper) {
  constexpr Nanoseconds kNap = std::chrono::milliseconds(100);
  const auto end = std::chrono::steady_clock::now() + time;
  while (!stopper.stopped()) {
    const Nanoseconds left = end - std::chrono::steady_clock::now();
    if (left <= Nanoseconds(0)) return true;
    std::this_thread::sleep_for(std::min(left, kNap));
  }
  return false;
}

}  // namespace assay::cluster
