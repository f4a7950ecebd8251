// SPDX-License-Identifier: Apache-2.0
#include "scaling_shapes.h"

#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

namespace assay::cluster {
namespace {

TEST(ScalingShapes, OneIsAsFastAsOne) {
  for (size_t shape = 0; shape < shape_count(); ++shape) {
    EXPECT_NEAR(log_speedup(shape, 1), 0, 1e-12) << shape;
    for (const double n : {0.25, 0.5, 3.0, 64.0, 1000.0})
      EXPECT_TRUE(std::isfinite(log_speedup(shape, n))) << shape << " x " << n;
  }
}

TEST(ScalingShapes, ProbabilitiesAddUp) {
  const auto& priors = shape_priors();
  EXPECT_NEAR(std::accumulate(priors.begin(), priors.end(), 0.0), 1, 1e-9);
  const auto& alike = shapes_alike();
  for (size_t job = 0; job < shape_count(); ++job) {
    const auto row = alike.begin() + static_cast<std::ptrdiff_t>(job * shape_count());
    EXPECT_NEAR(std::accumulate(row, row + static_cast<std::ptrdiff_t>(shape_count()), 0.0), 1,
                1e-9);
  }
}

TEST(ScalingShapes, TheLawIsOneOfThem) {
  size_t laws = 0;
  for (size_t shape = 0; shape < shape_count(); ++shape)
    if (const auto law = universal_of(shape)) {
      ++laws;
      EXPECT_NEAR(std::exp(log_speedup(shape, 4)), 4 / (1 + 3 * law->serial + 12 * law->crosstalk),
                  1e-9);
    }
  EXPECT_EQ(laws, 100U);
}

TEST(ScalingShapes, MoreMayBeSlower) {
  double slower = 0;
  for (size_t shape = 0; shape < shape_count(); ++shape)
    if (log_speedup(shape, 2) < 0) slower += shape_priors()[shape];
  EXPECT_GT(slower, 0.02) << "or a single trial of two would make it clear that they are faster";
  EXPECT_LT(slower, 0.1);
}

}  // namespace
}  // namespace assay::cluster
