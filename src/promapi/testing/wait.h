// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <poll.h>

#include <gtest/gtest.h>

namespace assay::promapi::testing {

/// Asks again and again until the condition holds, for half a minute at most.
template <class Condition>
::testing::AssertionResult comes_true(Condition condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end)
      return ::testing::AssertionFailure() << "not within 30 s";
    ::poll(nullptr, 0, 5);
  }
  return ::testing::AssertionSuccess();
}

}  // namespace assay::promapi::testing
