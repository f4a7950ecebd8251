// SPDX-License-Identifier: Apache-2.0
#include "scan_tensor.h"

#include <fmt/format.h>

namespace assay::model {
namespace {

constexpr int kDeepest = 24;                       ///< graphs within graphs
constexpr size_t kMostNumbers = size_t{1} << 16U;  ///< of one attribute
constexpr size_t kMostOutputs = size_t{1} << 16U;  ///< of one node

/// Reads graphs, which have nodes, which have attributes, which have graphs.
class Scanner {
 public:
  explicit Scanner(Progress& progress) : progress_(progress) {}

  void graph(std::string_view message, Graph& graph);
  Node node(std::string_view message);
  Attribute attribute(std::string_view message);
  Function function(std::string_view message);

 private:
  void attribute_field(Fields& fields, Attribute& attribute);
  void graph_field(Fields& fields, Graph& graph);

  Progress& progress_;
  int depth_ = 0;
};

void Scanner::graph_field(Fields& fields, Graph& graph) {
  switch (fields.tag()) {
    case 1:
      graph.nodes.push_back(node(fields.bytes()));
      return;
    case 2:
      graph.name = fields.text();
      return;
    case 5:
      graph.initializers.push_back(scan_tensor(fields.bytes(), progress_));
      return;
    case 11:
      graph.inputs.push_back(scan_value_info(fields.bytes(), progress_));
      return;
    case 12:
      graph.outputs.push_back(scan_value_info(fields.bytes(), progress_));
      return;
    case 13:
      graph.values.push_back(scan_value_info(fields.bytes(), progress_));
      return;
    case 15:
      graph.initializers.push_back(scan_sparse_tensor(fields.bytes(), progress_));
      return;
    default:
      return;
  }
}

void Scanner::graph(std::string_view message, Graph& graph) {
  if (++depth_ > kDeepest)
    progress_.fail(fmt::format("graphs nested deeper than {}", kDeepest), message.data());
  progress_.keep(1, sizeof graph, message.data());
  Fields fields(message, progress_, "graph");
  while (fields.next()) {
    if (fields.is_bytes()) graph_field(fields, graph);
  }
  --depth_;
}

void Scanner::attribute_field(Fields& fields, Attribute& attribute) {
  const bool is_number =
      fields.tag() == 2 || fields.tag() == 3 || fields.tag() == 7 || fields.tag() == 8;
  if (!is_number && !fields.is_bytes()) return;
  switch (fields.tag()) {
    case 1:
      attribute.name = fields.text();
      return;
    case 2:
      attribute.real = fields.real();
      return;
    case 3:
      attribute.integer = fields.integer();
      return;
    case 4:
      attribute.text = fields.text();
      return;
    case 5:
      attribute.tensor = scan_tensor(fields.bytes(), progress_);
      return;
    case 22:
      attribute.tensor = scan_sparse_tensor(fields.bytes(), progress_);
      return;
    case 6:
    case 11:
      return graph(fields.bytes(), attribute.graphs.emplace_back());
    case 7:
      return fields.reals(attribute.reals, kMostNumbers);
    case 8:
      return fields.integers(attribute.integers, kMostNumbers);
    case 21:
      attribute.reference = fields.text();
      return;
    default:
      return;
  }
}

Attribute Scanner::attribute(std::string_view message) {
  Attribute attribute;
  Fields fields(message, progress_, "attribute");
  while (fields.next()) attribute_field(fields, attribute);
  const size_t numbers = attribute.integers.size() + attribute.reals.size();
  progress_.keep(1, sizeof attribute + numbers * sizeof(double), message.data());
  return attribute;
}

Node Scanner::node(std::string_view message) {
  Node node;
  node.message = message;
  progress_.keep(1, sizeof node, message.data());
  Fields fields(message, progress_, "node");
  while (fields.next()) {
    if (!fields.is_bytes()) continue;
    if (fields.tag() == 1 || fields.tag() == 2) {
      progress_.keep(1, sizeof(std::string), message.data());
      (fields.tag() == 1 ? node.inputs : node.outputs).push_back(fields.text());
    }
    if (fields.tag() == 3) node.name = fields.text();
    if (fields.tag() == 4) node.op = fields.text();
    if (fields.tag() == 5) node.attributes.push_back(attribute(fields.bytes()));
    if (fields.tag() == 7) node.domain = fields.text();
  }
  if (node.outputs.size() > kMostOutputs)
    progress_.fail(fmt::format("a node with more than {} outputs", kMostOutputs), message.data());
  if (node.domain == "ai.onnx") node.domain.clear();
  return node;
}

Function Scanner::function(std::string_view message) {
  Function function;
  progress_.keep(1, sizeof function, message.data());
  Fields fields(message, progress_, "function");
  while (fields.next()) {
    if (!fields.is_bytes()) continue;
    if (fields.tag() == 1) function.name = fields.text();
    if (fields.tag() == 4) function.inputs.push_back(fields.text());
    if (fields.tag() == 5) function.outputs.push_back(fields.text());
    if (fields.tag() == 7) function.nodes.push_back(node(fields.bytes()));
    if (fields.tag() == 10) function.domain = fields.text();
    if (fields.tag() == 11) function.defaults.push_back(attribute(fields.bytes()));
    progress_.keep(1, sizeof(std::string), message.data());
  }
  if (function.domain == "ai.onnx") function.domain.clear();
  return function;
}

void scan_opset(std::string_view message, Model& model, Progress& progress) {
  std::string domain;
  int64_t version = 0;
  Fields fields(message, progress, "opset");
  while (fields.next()) {
    if (fields.tag() == 1) domain = fields.text();
    if (fields.tag() == 2) version = fields.integer();
  }
  progress.keep(1, sizeof(std::string), message.data());
  model.opsets[domain == "ai.onnx" ? "" : domain] = version;
}

void model_field(Fields& fields, Model& model, Scanner& scanner) {
  if (fields.tag() == 1) model.ir_version = fields.integer();
  if (fields.tag() == 2) model.producer = fields.text();
  if (fields.tag() == 8) scan_opset(fields.bytes(), model, fields.progress());
  if (fields.tag() == 25) model.functions.push_back(scanner.function(fields.bytes()));
}

Failure not_a_model(const std::string& file, const std::string& why) {
  return bad_input(fmt::format("{} is no ONNX model: {}", file, why));
}

}  // namespace

Result<Model> scan(std::string_view bytes, const std::string& file, const MappedFile* mapped) {
  if (bytes.empty()) return bad_input(file + " is empty");
  Model model;
  model.file_bytes = bytes.size();
  Progress progress(bytes, mapped);
  Scanner scanner(progress);
  bool has_graph = false;
  Fields fields(bytes, progress, "model");
  while (fields.next()) {
    if (fields.tag() == 7 && fields.is_bytes()) {
      has_graph = true;
      scanner.graph(fields.bytes(), model.graph);
      continue;
    }
    model_field(fields, model, scanner);
    model.other_fields.push_back(fields.whole());
    progress.keep(1, sizeof(std::string_view), bytes.data());
  }
  const bool looks_right = has_graph || model.ir_version > 0;
  if (progress.failed() && !looks_right) return not_a_model(file, progress.error());
  if (progress.failed()) return bad_input(fmt::format("{} is damaged: {}", file, progress.error()));
  if (!has_graph) return not_a_model(file, "it has no graph");
  return model;
}

}  // namespace assay::model
