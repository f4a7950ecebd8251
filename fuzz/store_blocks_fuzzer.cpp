// SPDX-License-Identifier: Apache-2.0
// A block of samples comes out of a file that may be damaged or somebody else's.
#include "../src/store/blocks.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace {

using assay::store::Column;

bool same(const Column& a, const Column& b) {
  return a.series == b.series && a.times == b.times && a.values.size() == b.values.size() &&
         std::memcmp(a.values.data(), b.values.data(), a.values.size() * sizeof(double)) == 0;
}

void check_round_trip(const std::vector<Column>& columns, assay::store::Effort effort) {
  const auto again =
      assay::store::decode_block(encode_block(assay::store::views_of(columns), effort));
  if (!again || again->size() != columns.size()) std::abort();
  for (size_t i = 0; i < columns.size(); ++i) {
    if (!same((*again)[i], columns[i])) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto columns = assay::store::decode_block(bytes);
  if (!columns) return 0;
  size_t samples = 0;
  for (const auto& column : *columns) samples += column.times.size();
  // A few bytes can stand for a million equal samples; slow, and they would tell nothing new.
  if (samples > 65536) return 0;
  check_round_trip(*columns, assay::store::Effort::fast);
  if (samples < 4096) check_round_trip(*columns, assay::store::Effort::best);
  return 0;
}
