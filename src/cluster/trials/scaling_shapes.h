// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace assay::cluster {

/// The ways in which jobs scale that are thought possible, as a list of shapes: the universal
/// scalability law on a grid, also with so much crosstalk that more are slower, and what it does
/// not cover. That is a power of the count (to the power of zero: one does it all), a loss where
/// nodes end, an input that is fast enough for so many only, memory that few lack, and work in
/// parts of equal size. Pure; thread-safe.
size_t shape_count();

/// Logarithm of the throughput of n in that of one. Where more are slower, they are so from
/// `least` on: the fewest that somebody asks about.
double log_speedup(size_t shape, double n, double least = 1);

/// How likely each is before anything was measured.
const std::vector<double>& shape_priors();

/// [job * shape_count() + kind]: how likely a kind of GPUs scales in the one way, where the job
/// usually scales in the other. Kinds scale alike, but not equally.
const std::vector<double>& shapes_alike();

struct Universal {
  double serial = 0;
  double crosstalk = 0;
};
/// Nothing: the shape is another one, or is so of the count in the least one and not of the count.
std::optional<Universal> universal_of(size_t shape, double least = 1);

}  // namespace assay::cluster
