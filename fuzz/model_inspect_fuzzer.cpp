// SPDX-License-Identifier: Apache-2.0
// The whole way of an ONNX file: shapes, costs, cut points, text and JSON. Whatever it says, no
// number is negative or none, and both outputs can be made.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include <assay/model/split.h>

namespace {

using namespace assay::model;

void check(bool holds) {
  if (!holds) std::abort();
}

void check_cost(const Cost& cost) {
  for (const double part :
       {cost.macs, cost.flops, cost.bytes_read, cost.bytes_written, cost.parameters})
    check(part >= 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes(data, data + size);
  const auto model = scan(bytes, "fuzzed");
  if (!model) return 0;
  const auto traced = trace(*model, {{{"batch", 4}}});
  if (!traced) return 0;
  const Inspection found = inspect(*model, *traced);
  for (const auto& one : found.operators) check_cost(one.cost);
  check(found.peak_activation_bytes >= 0);
  check(!inspection_text(found, true, 80).empty());
  const auto document = inspection_document(found);
  check(!document.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).empty());
  check(!cuts_text(cut_points(*traced), false, 80).empty());
  return 0;
}
