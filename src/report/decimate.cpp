// SPDX-License-Identifier: Apache-2.0
#include "decimate.h"

#include <algorithm>
#include <cmath>

namespace assay::report {
namespace {

Series finite(const Series& series) {
  Series out = {series.info, {}, {}};
  out.times.reserve(series.times.size());
  out.values.reserve(series.times.size());
  for (size_t i = 0; i < series.times.size(); ++i) {
    if (!std::isfinite(series.values[i])) continue;
    out.times.push_back(series.times[i]);
    out.values.push_back(series.values[i]);
  }
  return out;
}

void keep(Series& out, const Series& series, size_t index) {
  out.times.push_back(series.times[index]);
  out.values.push_back(series.values[index]);
}

}  // namespace

Series decimated(const Series& series, size_t points) {
  Series all = finite(series);
  const size_t count = all.times.size();
  if (count <= points || points < 4) return all;
  Series out = {all.info, {}, {}};
  const size_t buckets = points / 2 - 1;
  const double span = seconds(all.times.back() - all.times.front());
  keep(out, all, 0);
  for (size_t i = 1; i + 1 < count;) {
    const auto bucket_of = [&](size_t k) {
      return static_cast<size_t>(seconds(all.times[k] - all.times.front()) / span *
                                 static_cast<double>(buckets));
    };
    const size_t bucket = bucket_of(i);
    size_t low = i;
    size_t high = i;
    for (; i + 1 < count && bucket_of(i) == bucket; ++i) {
      if (all.values[i] < all.values[low]) low = i;
      if (all.values[i] > all.values[high]) high = i;
    }
    keep(out, all, std::min(low, high));
    if (low != high) keep(out, all, std::max(low, high));
  }
  keep(out, all, count - 1);
  return out;
}

}  // namespace assay::report
