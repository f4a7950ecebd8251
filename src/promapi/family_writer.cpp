// SPDX-License-Identifier: Apache-2.0
#include "number_text.h"

#include <array>
#include <cmath>

#include <assay/promapi/family_writer.h>

namespace assay::promapi {

void FamilyWriter::family(std::string_view name, FamilyKind kind, std::string_view help,
                          std::string_view unit) {
  constexpr std::string_view kInfo = "_info";
  kind_ = kind;
  name_ = name;
  if (kind == FamilyKind::info && !name.ends_with(kInfo)) name_ += kInfo;
  begin(kind, help, unit);
}

void FamilyWriter::histogram(const LabelText& labels, const HistogramValue& value, Time time) {
  std::array<char, kNumberRoom> bound{};
  for (const auto& bucket : value.buckets) {
    if (!std::isfinite(bucket.upper_bound)) continue;
    const char* const end = write_bound(bound.data(), bucket.upper_bound);
    const Label le{"le", {bound.data(), static_cast<size_t>(end - bound.data())}};
    write("_bucket", labels, std::span(&le, 1), static_cast<double>(bucket.count), time);
  }
  const auto count = static_cast<double>(value.count);
  const Label all{"le", "+Inf"};
  write("_bucket", labels, std::span(&all, 1), count, time);
  write("_sum", labels, {}, value.sum, time);
  write("_count", labels, {}, count, time);
}

}  // namespace assay::promapi
