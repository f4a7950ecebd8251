// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <protozero/pbf_reader.hpp>
#include <snappy.h>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace assay::promapi::testing {

/// A series of a request of remote write, as a receiver reads it.
struct ReadSeries {
  std::vector<std::pair<std::string, std::string>> labels;
  std::vector<std::pair<int64_t, uint64_t>> samples;  ///< milliseconds, the value's bits
  bool operator==(const ReadSeries&) const = default;
};

inline ReadSeries read_series(protozero::pbf_reader message) {
  ReadSeries series;
  while (message.next()) {
    const bool is_label = message.tag() == 1;
    protozero::pbf_reader part = message.get_message();
    if (is_label) {
      EXPECT_TRUE(part.next(1));
      std::string name = part.get_string();
      EXPECT_TRUE(part.next(2));
      series.labels.emplace_back(std::move(name), part.get_string());
    } else {
      EXPECT_TRUE(part.next(1));
      const auto bits = std::bit_cast<uint64_t>(part.get_double());
      EXPECT_TRUE(part.next(2));
      series.samples.emplace_back(part.get_int64(), bits);
    }
  }
  return series;
}

inline std::vector<ReadSeries> read_request(std::string_view compressed) {
  std::string bytes;
  EXPECT_TRUE(snappy::Uncompress(compressed.data(), compressed.size(), &bytes));
  protozero::pbf_reader request(bytes);
  std::vector<ReadSeries> series;
  while (request.next(1)) series.push_back(read_series(request.get_message()));
  return series;
}

inline uint64_t bits(double value) {
  return std::bit_cast<uint64_t>(value);
}

}  // namespace assay::promapi::testing
