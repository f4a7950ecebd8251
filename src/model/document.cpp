// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include <assay/model/inspect.h>

namespace assay::model {
namespace {

using Json = nlohmann::json;

/// A whole number as one, as long as it has a place.
Json whole(double value) {
  if (value >= 0 && value < 9e18) return static_cast<uint64_t>(value);
  return value;
}

/// Unknown sizes are null.
Json shape(const Known& known) {
  if (!known.dims) return nullptr;
  Json list = Json::array();
  for (const int64_t dim : *known.dims) list.push_back(dim < 0 ? Json(nullptr) : Json(dim));
  return list;
}

Json ends(const std::vector<Value>& values) {
  Json list = Json::array();
  for (const auto& value : values) {
    list.push_back({{"name", value.name},
                    {"type", type_name(value.known.type)},
                    {"shape", shape(value.known)},
                    {"bytes", whole(value.known.bytes())}});
  }
  return list;
}

void add_cost(const Cost& cost, Json& to) {
  to["macs"] = whole(cost.macs);
  to["flops"] = whole(cost.flops);
  to["bytes_read"] = whole(cost.bytes_read);
  to["bytes_written"] = whole(cost.bytes_written);
}

Json operators(const Inspection& inspection) {
  Json list = Json::array();
  for (const auto& one : inspection.operators) {
    Json entry = {{"name", one.name},
                  {"type", one.type},
                  {"times", whole(one.times)},
                  {"parameters", whole(one.cost.parameters)},
                  {"output_shape", shape(one.output)}};
    add_cost(one.cost, entry);
    list.push_back(std::move(entry));
  }
  return list;
}

Json opsets(const Inspection& inspection) {
  Json map = Json::object();
  for (const auto& [domain, version] : inspection.opsets)
    map[domain.empty() ? "ai.onnx" : domain] = version;
  return map;
}

}  // namespace

Json inspection_document(const Inspection& inspection) {
  const Counts& counts = inspection.counts;
  Json document = {{"model", std::filesystem::path(inspection.file).stem().native()},
                   {"file", inspection.file},
                   {"file_bytes", inspection.file_bytes},
                   {"ir_version", inspection.ir_version},
                   {"producer", inspection.producer},
                   {"opsets", opsets(inspection)},
                   {"conv_layers", counts.conv_layers},
                   {"pool_layers", counts.pool_layers},
                   {"fc_layers", counts.fc_layers},
                   {"filter_details", whole(counts.filter_details)},
                   {"total_parameters", whole(counts.total_parameters)},
                   {"trainable_parameters", whole(counts.trainable_parameters)},
                   {"model_input_size", whole(counts.model_input_size)},
                   {"model_output_size", whole(counts.model_output_size)},
                   {"weight_bytes", whole(inspection.weight_bytes)},
                   {"peak_activation_bytes", whole(inspection.peak_activation_bytes)},
                   {"inputs", ends(inspection.inputs)},
                   {"outputs", ends(inspection.outputs)},
                   {"operators", operators(inspection)},
                   {"operator_types", inspection.operator_types},
                   {"unknown_operators", inspection.unknown_operators},
                   {"unknown_shapes", inspection.unknown_shapes},
                   {"unbound_dimensions", inspection.unbound_dims},
                   {"external_files", inspection.external_files},
                   {"assumptions", inspection.assumptions}};
  add_cost(inspection.total, document);
  return document;
}

}  // namespace assay::model
