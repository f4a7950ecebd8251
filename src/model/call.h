// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include <assay/model/trace.h>

namespace assay::model {

/// One node with what is known of its inputs, as the rules of operators see it. Rules fill `out`,
/// which has a place for each output.
class Call {
 public:
  Call(const Node& node, int64_t opset, std::vector<const Known*> inputs);

  size_t inputs() const { return inputs_.size(); }
  bool has(size_t i) const { return i < inputs_.size() && inputs_[i] != nullptr; }
  /// What is left out is a Known without anything.
  const Known& in(size_t i) const;
  /// Nothing when it is not known.
  const Dims* dims(size_t i) const;
  size_t rank(size_t i) const;
  /// One dimension; unknown when out of range.
  int64_t dim(size_t i, size_t axis) const;
  /// The small contents of an input, as numbers or as sizes; nothing when not known.
  const std::vector<double>* numbers(size_t i) const;
  std::optional<Dims> sizes(size_t i) const;

  // Attributes; numbers are held within kLargestDim, so that rules may add them.
  int64_t integer(std::string_view name, int64_t otherwise) const;
  double real(std::string_view name, double otherwise) const;
  std::string_view text(std::string_view name) const;
  Dims integers(std::string_view name) const;
  bool has_attribute(std::string_view name) const;
  /// From the attribute, or the input that took its place in later opsets.
  std::optional<Dims> integers_or_input(std::string_view name, size_t input) const;

  /// Unknown when it has more than kMostDims.
  void set(size_t output, Dims dims);
  void set_type(size_t output, int type);

  const Node& node;
  const int64_t opset;
  std::vector<Known> out;

 private:
  std::vector<const Known*> inputs_;
};

/// A dimension from arithmetic: unknown when it is none.
int64_t dim_from(double size);
/// Elements of a shape, unknown dimensions as 1.
double product(const Dims& dims);
double product(const Dims& dims, size_t begin, size_t end);
bool all_known(const Dims& dims);
/// Counted from the front; nothing when outside [-rank, rank).
std::optional<size_t> axis_of(int64_t axis, size_t rank);
/// As ONNX's operators of two tensors stretch them.
Dims broadcast(const Dims& a, const Dims& b);
int64_t broadcast_dim(int64_t a, int64_t b);

}  // namespace assay::model
