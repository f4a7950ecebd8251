// SPDX-License-Identifier: Apache-2.0
#include "old_call.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace assay::serve {
namespace {

using nlohmann::json;

/// Counts of layers are whole numbers; those that are larger than any model are as good as this.
uint64_t whole(double value) {
  constexpr double kMost = 1e18;
  return static_cast<uint64_t>(std::min(value, kMost));
}

Result<double> number(const json& document, const char* field) {
  const auto found = document.find(field);
  if (found == document.end()) return bad_input(fmt::format("the field '{}' is missing", field));
  if (!found->is_number())
    return bad_input(fmt::format("the field '{}' must be a number, not {}", field,
                                 found->is_string() ? "text" : found->type_name()));
  const double value = found->get<double>();
  if (!std::isfinite(value) || value < 0)
    return bad_input(fmt::format("the field '{}' must be a number of at least 0", field));
  return value;
}

}  // namespace

Result<OldCall> parse_old_call(const std::string& body) {
  const auto document = json::parse(body, nullptr, false);
  if (document.is_discarded()) return bad_input("the body is no JSON");
  return old_call_of(document);
}

Result<OldCall> old_call_of(const json& document) {
  if (!document.is_object()) return bad_input("the body must be an object with a model's counts");
  const auto name = document.find("model");
  if (name == document.end()) return bad_input("the field 'model' is missing");
  if (!name->is_string() || name->get_ref<const std::string&>().size() > kLongestName)
    return bad_input("the field 'model' must be a short text");
  OldCall call{name->get<std::string>(), {}};
  model::Counts& counts = call.counts;
  ASSAY_TRY(const double conv, number(document, "conv_layers"));
  ASSAY_TRY(const double pool, number(document, "pool_layers"));
  ASSAY_TRY(const double fc, number(document, "fc_layers"));
  counts.conv_layers = whole(conv);
  counts.pool_layers = whole(pool);
  counts.fc_layers = whole(fc);
  ASSAY_TRY(counts.filter_details, number(document, "filter_details"));
  ASSAY_TRY(counts.total_parameters, number(document, "total_parameters"));
  ASSAY_TRY(counts.model_input_size, number(document, "model_input_size"));
  ASSAY_TRY(counts.model_output_size, number(document, "model_output_size"));
  return call;
}

}  // namespace assay::serve
