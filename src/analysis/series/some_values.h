// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <random>
#include <span>
#include <vector>

namespace assay::analysis {

/// About so many of the values, for what needs no more of them; all when there are fewer. They lie
/// at no regular distance: of a cycle that would be the same place again and again.
template <typename T>
std::vector<T> some_of(std::span<const T> values, size_t about) {
  const size_t every = values.size() / about;
  if (every < 2) return {values.begin(), values.end()};
  std::vector<T> some;
  some.reserve(values.size() / every + 16);
  std::minstd_rand chance;
  for (size_t i = chance() % every; i < values.size(); i += 1 + chance() % (2 * every - 1))
    some.push_back(values[i]);
  return some;
}

}  // namespace assay::analysis
