// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <string_view>
#include <vector>

/// Small ONNX models, written field by field for tests.
namespace assay::model::testing {

using Ints = std::vector<int64_t>;
using Names = std::vector<std::string>;

inline std::string dimension(int64_t size) {
  std::string data;
  protozero::pbf_writer(data).add_int64(1, size);
  return data;
}

inline std::string dimension(std::string_view name) {
  std::string data;
  protozero::pbf_writer(data).add_string(2, std::string(name));
  return data;
}

/// A value of a tensor type; `dims` are messages of dimension().
inline std::string value(const std::string& name, const std::vector<std::string>& dims,
                         int type = 1) {
  std::string shape;
  for (const auto& dim : dims) protozero::pbf_writer(shape).add_message(1, dim);
  std::string tensor;
  protozero::pbf_writer(tensor).add_int32(1, type);
  protozero::pbf_writer(tensor).add_message(2, shape);
  std::string kind;
  protozero::pbf_writer(kind).add_message(1, tensor);
  std::string data;
  protozero::pbf_writer(data).add_string(1, name);
  protozero::pbf_writer(data).add_message(2, kind);
  return data;
}

inline std::string value(const std::string& name, const Ints& dims, int type = 1) {
  std::vector<std::string> messages;
  for (const int64_t dim : dims) messages.push_back(dimension(dim));
  return value(name, messages, type);
}

/// A tensor of floats, all zero.
inline std::string zeros(const std::string& name, const Ints& dims, int type = 1,
                         size_t bytes = 4) {
  std::string data;
  protozero::pbf_writer writer(data);
  size_t elements = 1;
  for (const int64_t dim : dims) {
    writer.add_int64(1, dim);
    elements *= static_cast<size_t>(dim);
  }
  writer.add_int32(2, type);
  writer.add_string(8, name);
  writer.add_bytes(9, std::string(elements * bytes, '\0'));
  return data;
}

/// A tensor of 64-bit integers; without dims where it is a scalar.
inline std::string integers(const std::string& name, const Ints& numbers, bool scalar = false) {
  std::string data;
  protozero::pbf_writer writer(data);
  if (!scalar) writer.add_int64(1, static_cast<int64_t>(numbers.size()));
  writer.add_int32(2, 7);
  writer.add_packed_int64(7, numbers.begin(), numbers.end());
  writer.add_string(8, name);
  return data;
}

/// A tensor whose data stand in another file.
inline std::string external(const std::string& name, const Ints& dims, const std::string& file) {
  std::string entry;
  protozero::pbf_writer(entry).add_string(1, "location");
  protozero::pbf_writer(entry).add_string(2, file);
  std::string data;
  protozero::pbf_writer writer(data);
  for (const int64_t dim : dims) writer.add_int64(1, dim);
  writer.add_int32(2, 1);
  writer.add_string(8, name);
  writer.add_message(13, entry);
  writer.add_int32(14, 1);
  return data;
}

inline std::string attribute(const std::string& name, int64_t number) {
  std::string data;
  protozero::pbf_writer writer(data);
  writer.add_string(1, name);
  writer.add_int64(3, number);
  writer.add_int32(20, 2);
  return data;
}

inline std::string attribute(const std::string& name, const Ints& numbers) {
  std::string data;
  protozero::pbf_writer writer(data);
  writer.add_string(1, name);
  for (const int64_t number : numbers) writer.add_int64(8, number);
  writer.add_int32(20, 7);
  return data;
}

inline std::string text_attribute(const std::string& name, const std::string& text) {
  std::string data;
  protozero::pbf_writer writer(data);
  writer.add_string(1, name);
  writer.add_string(4, text);
  writer.add_int32(20, 3);
  return data;
}

inline std::string tensor_attribute(const std::string& name, const std::string& tensor) {
  std::string data;
  protozero::pbf_writer writer(data);
  writer.add_string(1, name);
  writer.add_message(5, tensor);
  writer.add_int32(20, 4);
  return data;
}

inline std::string graph_attribute(const std::string& name, const std::string& graph) {
  std::string data;
  protozero::pbf_writer writer(data);
  writer.add_string(1, name);
  writer.add_message(6, graph);
  writer.add_int32(20, 5);
  return data;
}

inline std::string node(const std::string& op, const Names& inputs, const Names& outputs,
                        const std::vector<std::string>& attributes = {},
                        const std::string& domain = "") {
  std::string data;
  protozero::pbf_writer writer(data);
  for (const auto& input : inputs) writer.add_string(1, input);
  for (const auto& output : outputs) writer.add_string(2, output);
  writer.add_string(4, op);
  for (const auto& one : attributes) writer.add_message(5, one);
  if (!domain.empty()) writer.add_string(7, domain);
  return data;
}

/// The messages of a graph by their kind.
struct GraphParts {
  std::vector<std::string> nodes;
  std::vector<std::string> initializers;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
};

inline std::string graph(const GraphParts& parts) {
  std::string data;
  protozero::pbf_writer writer(data);
  for (const auto& one : parts.nodes) writer.add_message(1, one);
  writer.add_string(2, "g");
  for (const auto& one : parts.initializers) writer.add_message(5, one);
  for (const auto& one : parts.inputs) writer.add_message(11, one);
  for (const auto& one : parts.outputs) writer.add_message(12, one);
  return data;
}

inline std::string model_of(const std::string& graph_message, int64_t opset = 13,
                            const std::vector<std::string>& functions = {}) {
  std::string opset_message;
  protozero::pbf_writer(opset_message).add_string(1, "");
  protozero::pbf_writer(opset_message).add_int64(2, opset);
  std::string data;
  protozero::pbf_writer writer(data);
  writer.add_int64(1, 8);
  writer.add_string(2, "assay-test");
  writer.add_message(7, graph_message);
  writer.add_message(8, opset_message);
  for (const auto& function : functions) writer.add_message(25, function);
  return data;
}

inline std::string model_of(const GraphParts& parts, int64_t opset = 13) {
  return model_of(graph(parts), opset);
}

}  // namespace assay::model::testing
