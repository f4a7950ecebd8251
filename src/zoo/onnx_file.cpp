// SPDX-License-Identifier: Apache-2.0
#include "onnx_file.h"

#include "draw.h"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <functional>
#include <limits>
#include <protozero/pbf_writer.hpp>
#include <protozero/varint.hpp>
#include <span>
#include <unistd.h>

#include <assay/base/files.h>
#include <assay/base/text.h>

// The messages, as far as they are used, as onnx/onnx.proto has them:
//   ModelProto     { int64 ir_version = 1; string producer_name = 2; GraphProto graph = 7;
//                    repeated OperatorSetIdProto opset_import = 8; }
//   OperatorSetIdProto { string domain = 1; int64 version = 2; }
//   GraphProto     { repeated NodeProto node = 1; string name = 2; repeated TensorProto initializer
//                    = 5; repeated ValueInfoProto input = 11, output = 12; }
//   NodeProto      { repeated string input = 1, output = 2; string name = 3, op_type = 4;
//                    repeated AttributeProto attribute = 5; }
//   AttributeProto { string name = 1; float f = 2; int64 i = 3; bytes s = 4;
//                    repeated int64 ints = 8; AttributeType type = 20; }
//   TensorProto    { repeated int64 dims = 1; int32 data_type = 2; string name = 8;
//                    bytes raw_data = 9; }
//   ValueInfoProto { string name = 1; TypeProto type = 2; }
//   TypeProto      { Tensor tensor_type = 1 { int32 elem_type = 1; TensorShapeProto shape = 2; } }
//   TensorShapeProto { repeated Dimension dim = 1 { int64 dim_value = 1; } }
namespace assay::zoo {
namespace {

using protozero::pbf_writer;

// The newest that all engines read: from 11 on, OpenCV 4.6 does not understand Clip.
constexpr int64_t kIrVersion = 5;
constexpr int64_t kOperatorSet = 10;
constexpr int32_t kFloat = 1;  // TensorProto.DataType
constexpr int32_t kInt64 = 7;

/// Which field an attribute's value stands in, and its AttributeType.
struct AttributeWriter {
  pbf_writer& to;
  void operator()(int64_t value) const {
    to.add_int64(3, value);
    to.add_int32(20, 2);
  }
  void operator()(float value) const {
    to.add_float(2, value);
    to.add_int32(20, 1);
  }
  void operator()(const std::string& value) const {
    to.add_bytes(4, value);
    to.add_int32(20, 3);
  }
  void operator()(const Shape& values) const {
    for (const int64_t value : values) to.add_int64(8, value);
    to.add_int32(20, 7);
  }
};

void add_node(pbf_writer& graph, const Node& node) {
  pbf_writer to(graph, 1);
  for (const auto& input : node.inputs) to.add_string(1, input);
  to.add_string(2, node.output);
  to.add_string(3, node.output);
  to.add_string(4, node.op);
  for (const auto& [name, value] : node.attributes) {
    pbf_writer attribute(to, 5);
    attribute.add_string(1, name);
    std::visit(AttributeWriter{attribute}, value);
  }
}

void add_value(pbf_writer& graph, protozero::pbf_tag_type tag, const Value& value) {
  pbf_writer info(graph, tag);
  info.add_string(1, value.tensor.name);
  pbf_writer type(info, 2);
  pbf_writer tensor(type, 1);
  tensor.add_int32(1, value.integers ? kInt64 : kFloat);
  pbf_writer shape(tensor, 2);
  for (const int64_t size : value.tensor.shape) {
    pbf_writer dimension(shape, 1);
    dimension.add_int64(1, size);
  }
}

/// Everything of the graph but its weights.
std::string graph_head(const Graph& graph, const std::string& name) {
  std::string bytes;
  pbf_writer to(bytes);
  for (const auto& node : graph.nodes()) add_node(to, node);
  to.add_string(2, name);
  for (const auto& input : graph.inputs()) add_value(to, 11, input);
  for (const auto& output : graph.outputs()) add_value(to, 12, output);
  return bytes;
}

void add_length(std::string& to, protozero::pbf_tag_type tag, int64_t length) {
  protozero::write_varint(std::back_inserter(to), (tag << 3U) | 2U);  // 2: a length and bytes
  protozero::write_varint(std::back_inserter(to), static_cast<uint64_t>(length));
}

bool has_integers(const Weight& weight) {
  return std::holds_alternative<std::vector<int64_t>>(weight.content);
}

int64_t data_size(const Weight& weight) {
  return count_of(weight.shape) * (has_integers(weight) ? 8 : 4);
}

/// A weight's message up to where its data begin.
std::string weight_head(const Weight& weight) {
  std::string tensor;
  pbf_writer to(tensor);
  for (const int64_t size : weight.shape) to.add_int64(1, size);
  to.add_int32(2, has_integers(weight) ? kInt64 : kFloat);
  to.add_string(8, weight.name);
  add_length(tensor, 9, data_size(weight));
  std::string bytes;
  add_length(bytes, 5, std::ssize(tensor) + data_size(weight));
  return bytes + tensor;
}

/// The model up to where its weights begin, which are the last part of it.
std::string model_head(const Graph& graph, const std::string& name) {
  const std::string head = graph_head(graph, name);
  int64_t size = std::ssize(head);
  for (const auto& weight : graph.weights()) {
    size += std::ssize(weight_head(weight)) + data_size(weight);
  }
  std::string bytes;
  pbf_writer to(bytes);
  to.add_int64(1, kIrVersion);
  to.add_string(2, "assay");
  {
    pbf_writer operators(to, 8);
    operators.add_string(1, "");
    operators.add_int64(2, kOperatorSet);
  }
  add_length(bytes, 7, size);
  return bytes + head;
}

template <class T>
std::string_view bytes_of(std::span<const T> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

Result<void> write_drawn(int fd, const Drawn& range, int64_t count, uint64_t seed) {
  std::array<float, 16384> part{};
  Draw draw(seed);
  for (int64_t left = count; left > 0;) {
    const auto now = std::span(part).first(std::min(static_cast<size_t>(left), part.size()));
    for (float& number : now) number = draw.between(range.low, range.high);
    ASSAY_CHECK(write_all(fd, bytes_of(std::span<const float>(now))));
    left -= std::ssize(now);
  }
  return {};
}

Result<void> write_weight(int fd, const Weight& weight, uint64_t seed) {
  ASSAY_CHECK(write_all(fd, weight_head(weight)));
  if (const auto* range = std::get_if<Drawn>(&weight.content)) {
    return write_drawn(fd, *range, count_of(weight.shape), seed);
  }
  if (const auto* floats = std::get_if<std::vector<float>>(&weight.content)) {
    return write_all(fd, bytes_of(std::span(*floats)));
  }
  return write_all(fd, bytes_of(std::span(std::get<std::vector<int64_t>>(weight.content))));
}

Result<void> write_model(int fd, const Graph& graph, const std::string& name, uint64_t seed) {
  ASSAY_CHECK(write_all(fd, model_head(graph, name)));
  for (const auto& weight : graph.weights()) {
    ASSAY_CHECK(write_weight(fd, weight, seed));
    seed = Draw(seed).next();
  }
  return {};
}

using Write = std::function<Result<void>(int fd)>;

Result<void> write_into(const std::filesystem::path& file, const Write& write) {
  const Fd fd(::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!fd.valid()) return refused_errno(fmt::format("cannot write {}", file.native()), errno);
  return write(fd.get());
}

/// Writes beside the file, and puts the whole in its place.
Result<void> replace(const std::filesystem::path& file, const Write& write) {
  const std::filesystem::path part = file.native() + ".part";
  Result<void> done = write_into(part, write);
  if (done && ::rename(part.c_str(), file.c_str()) != 0) {
    done = refused_errno(fmt::format("cannot write {}", file.native()), errno);
  }
  if (!done) ::unlink(part.c_str());
  return done;
}

}  // namespace

int64_t onnx_size(const Graph& graph, const std::string& name) {
  int64_t size = std::ssize(model_head(graph, name));
  for (const auto& weight : graph.weights()) {
    size += std::ssize(weight_head(weight)) + data_size(weight);
  }
  return size;
}

Result<int64_t> write_onnx(const Graph& graph, const std::string& name, uint64_t seed,
                           const std::filesystem::path& file) {
  const int64_t size = onnx_size(graph, name);
  if (size > std::numeric_limits<int32_t>::max()) {
    return bad_input(
        fmt::format("the model would have {}, and an ONNX file has at most 2 GB: choose a smaller "
                    "--width or --depth",
                    format_bytes(static_cast<double>(size))));
  }
  const auto write = [&](int fd) { return write_model(fd, graph, name, seed); };
  std::error_code none;
  // A link stays, and so does a device or a pipe.
  const auto target = std::filesystem::exists(file, none) ? std::filesystem::canonical(file) : file;
  ASSAY_CHECK(std::filesystem::is_other(target, none) ? write_into(target, write)
                                                      : replace(target, write));
  return size;
}

}  // namespace assay::zoo
