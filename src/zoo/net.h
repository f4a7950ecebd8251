// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace assay::zoo {

enum class Activation {
  none,
  relu,
  relu6,
  leaky,
  sigmoid,
  hard_sigmoid,
  swish,
  hard_swish,
  gelu,
  tanh
};

/// Height and width of a kernel or of padding; one number for both.
struct Window {
  Window(int64_t both) : height(both), width(both) {}
  Window(int64_t high, int64_t wide) : height(high), width(wide) {}
  int64_t height;
  int64_t width;
};

struct ConvOptions {
  Window kernel = 1;
  int64_t stride = 1;
  std::optional<Window> pad = std::nullopt;  ///< half the kernel when not said
  int64_t groups = 1;
  Activation act = Activation::none;
  float gain = 1;  ///< of the normalization behind it: below 1 where a branch is added to others
};

struct PoolOptions {
  int64_t kernel = 2;
  int64_t stride = 2;
  int64_t pad = 0;
  bool round_up = false;  ///< the last window may stick out
};

/// Lays layers of neural networks into a graph, following shapes (batch x channels x height x
/// width, or batch x positions x features). Weights are scaled by what flows in, so that values
/// neither fade nor grow (He), and normalization has statistics near those of real models.
/// Composed of operators that common engines know: no LayerNormalization, no HardSwish.
class Net {
 public:
  explicit Net(Graph& graph) : graph_(graph) {}
  Graph& graph() { return graph_; }

  Tensor conv(const Tensor& x, int64_t channels, const ConvOptions& options);       ///< with bias
  Tensor conv_bare(const Tensor& x, int64_t channels, const ConvOptions& options);  ///< without
  Tensor conv_bn(const Tensor& x, int64_t channels, const ConvOptions& options);
  Tensor conv_bn_relu(const Tensor& x, int64_t channels, ConvOptions options);
  Tensor depthwise_bn(const Tensor& x, ConvOptions options);
  Tensor conv_transpose(const Tensor& x, int64_t channels, int64_t scale);
  Tensor bn(const Tensor& x, float gain = 1);
  Tensor activate(const Tensor& x, Activation act);
  Tensor relu(const Tensor& x) { return activate(x, Activation::relu); }
  /// Squeeze and excite: every channel times a gate that all of them decide on.
  Tensor gate(const Tensor& x, int64_t squeezed, Activation inner, Activation outer);

  Tensor max_pool(const Tensor& x, const PoolOptions& options);
  Tensor average_pool(const Tensor& x, const PoolOptions& options);
  /// To at most `size` x `size`, whatever comes in.
  Tensor pool_to(const Tensor& x, int64_t size);
  Tensor global_pool(const Tensor& x);  ///< to batch x channels x 1 x 1
  Tensor upsample(const Tensor& x, int64_t scale);

  Tensor add(const Tensor& a, const Tensor& b);
  Tensor multiply(const Tensor& a, const Tensor& b);
  Tensor concat(const std::vector<Tensor>& parts, int64_t axis = 1);
  Tensor slice(const Tensor& x, int64_t axis, int64_t from, int64_t to);
  Tensor reshape(const Tensor& x, Shape shape);
  Tensor expand(const Tensor& x, Shape shape);
  Tensor transpose(const Tensor& x, const Shape& order);
  Tensor flatten(const Tensor& x);
  /// Row `indices` of a table; from a constant table it is an embedding.
  Tensor gather(const Tensor& table, const Tensor& indices, Shape shape);

  /// batch x features, by Gemm.
  Tensor linear(const Tensor& x, int64_t features, Activation act = Activation::none);
  /// The last axis of any number of them, by MatMul and Add.
  Tensor project(const Tensor& x, int64_t features);
  Tensor matmul(const Tensor& a, const Tensor& b);
  Tensor softmax(const Tensor& x);
  Tensor layer_norm(const Tensor& x, float epsilon);
  /// Global pool and a fully connected layer: how most classifiers end.
  Tensor classify(const Tensor& x, int64_t classes);

 private:
  Tensor plain_conv(const Tensor& x, int64_t channels, const ConvOptions& options, bool bias);
  Tensor pool(std::string_view op, const Tensor& x, const PoolOptions& options);
  Tensor combine(std::string_view op, const Tensor& a, const Tensor& b);
  Tensor same(std::string_view op, const Tensor& x, Attributes attributes = {});

  Graph& graph_;
};

}  // namespace assay::zoo
