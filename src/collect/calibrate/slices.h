// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

namespace assay::collect {

/// A figure and how far parts of its measurement are apart: 0.01 is one percent.
struct Measured {
  double value = 0;
  double spread = 0;
};

/// Does a piece of work and tells how much it was.
using Work = std::function<double()>;

/// How to take the time of work.
struct Timing {
  double seconds = 1;  ///< in all
  /// Of one slice. Short ones find moments in which nobody disturbs.
  double slice = 0.004;
  /// Wall time, which a quota stretches; else the thread's CPU time, which others cannot.
  bool wall = false;
};

/// The calling thread, from now on.
void stay_on(int cpu);

/// How much work was done per second, of every slice, in order.
std::vector<double> slice_rates(const Work& work, const Timing& timing);
/// The same on each of these cores at once, one thread each; `make` is called on the core.
std::vector<std::vector<double>> slice_rates_on(const std::vector<int>& cpus,
                                                const std::function<Work()>& make,
                                                const Timing& timing);

/// The best of all slices: what slows work down is never part of it. The spread is between the best
/// of each third.
Measured best(const std::vector<double>& rates);
/// The median, where there is no best: of what is shared with others on purpose.
Measured typical(const std::vector<double>& rates);
/// Of all threads together.
Measured sum_of(const std::vector<std::vector<double>>& rates,
                Measured (*one)(const std::vector<double>&));

}  // namespace assay::collect
