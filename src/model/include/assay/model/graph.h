// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <assay/base/files.h>
#include <assay/base/result.h>

/// What stands in an ONNX file, without its weights' payloads.
namespace assay::model {

/// Of ONNX's numbers for element types, those that are asked for by name.
enum ElementType : int {
  kUndefined = 0,
  kFloat = 1,
  kUint8 = 2,
  kInt8 = 3,
  kInt32 = 6,
  kInt64 = 7,
  kString = 8,
  kBool = 9,
  kFloat16 = 10,
  kDouble = 11,
  kBfloat16 = 16,
};

/// Bytes of one element; half a byte for four-bit types, 0 for text and what is not known.
double element_bytes(int type);
bool is_real(int type);
/// "float32", "int8"; "type 99" for a number without a name.
std::string type_name(int type);

/// Where a tensor's data stands.
enum class Place : uint8_t { none, raw, typed, external };

struct Tensor {
  std::string name;
  int type = kUndefined;
  std::vector<int64_t> dims;
  Place place = Place::none;
  uint64_t stored_bytes = 0;  ///< in this file
  std::string location;       ///< of external data: the file, relative to the model's folder
  uint64_t offset = 0;
  uint64_t length = 0;  ///< of external data; 0: up to the end of the file
  bool sparse = false;
  /// The numbers, of tensors with at most kSmallTensor elements that stand in this file.
  std::optional<std::vector<double>> numbers;
  std::string_view message;  ///< as it stands in the file

  double elements() const;
};

/// Tensors with more elements are only described.
inline constexpr size_t kSmallTensor = 4096;
/// Of a shape; more are hostile, and the shape is treated as unknown.
inline constexpr size_t kMostDims = 64;

struct Dimension {
  std::optional<int64_t> size;
  std::string name;  ///< where it is symbolic
};

struct ValueInfo {
  std::string name;
  int type = kUndefined;
  bool is_tensor = false;
  bool has_shape = false;
  std::vector<Dimension> dims;
  std::string_view message;
};

struct Graph;

struct Attribute {
  std::string name;
  std::string reference;  ///< in a function: the attribute of its caller that is meant
  std::optional<int64_t> integer;
  std::optional<double> real;
  std::string text;
  std::vector<int64_t> integers;
  std::vector<double> reals;
  std::optional<Tensor> tensor;
  std::vector<Graph> graphs;
};

struct Node {
  std::string name;
  std::string op;
  std::string domain;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<Attribute> attributes;
  std::string_view message;

  const Attribute* attribute(std::string_view wanted) const;
};

struct Graph {
  std::string name;
  std::vector<Node> nodes;
  std::vector<Tensor> initializers;
  std::vector<ValueInfo> inputs;
  std::vector<ValueInfo> outputs;
  std::vector<ValueInfo> values;
};

/// Operators that a model brings itself.
struct Function {
  std::string name;
  std::string domain;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<Attribute> defaults;
  std::vector<Node> nodes;
};

struct Model {
  int64_t ir_version = 0;
  std::string producer;
  std::map<std::string, int64_t> opsets;  ///< by domain; ONNX's own is ""
  Graph graph;
  std::vector<Function> functions;
  uint64_t file_bytes = 0;
  /// What stands beside the graph, field by field and with its tag, for a copy of the model.
  std::vector<std::string_view> other_fields;
};

/// A file in memory without being read: pages come when they are touched.
class MappedFile {
 public:
  static Result<MappedFile> open(const std::filesystem::path& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  std::string_view bytes() const { return bytes_; }
  int fd() const { return fd_.get(); }
  /// Gives touched pages back to the system; they can be read again.
  void forget() const;

 private:
  MappedFile() = default;
  Fd fd_;
  std::string_view bytes_;
};

/// Reads a model without copying weights. The result has views into `bytes`. What hostile bytes can
/// cost is bounded: depth, counts and what is kept. `file` is for messages. `forget` is called now
/// and then where given, so that a mapped file does not stay in memory.
Result<Model> scan(std::string_view bytes, const std::string& file,
                   const MappedFile* mapped = nullptr);

}  // namespace assay::model
