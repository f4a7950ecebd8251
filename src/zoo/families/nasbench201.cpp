// SPDX-License-Identifier: Apache-2.0
#include "cell.h"
#include "family.h"

namespace assay::zoo {
namespace {

constexpr std::string_view kDefaultCell =
    "|nor_conv_3x3~0|+|nor_conv_3x3~0|nor_conv_3x3~1|+|skip_connect~0|nor_conv_3x3~1|nor_conv_3x3~"
    "2|";

Tensor relu_conv_bn(Net& net, const Tensor& x, int64_t channels, const ConvOptions& options) {
  return net.conv_bn(net.relu(x), channels, options);
}

Tensor edge(Net& net, const Tensor& x, CellOperation operation) {
  switch (operation) {
    case CellOperation::conv_1x1:
      return relu_conv_bn(net, x, x.shape[1], {.gain = 0.5F});
    case CellOperation::conv_3x3:
      return relu_conv_bn(net, x, x.shape[1], {.kernel = 3, .gain = 0.5F});
    case CellOperation::average_pool:
      return net.average_pool(x, {.kernel = 3, .stride = 1, .pad = 1});
    case CellOperation::none:
    case CellOperation::skip:
      break;
  }
  return x;
}

/// Every node is the sum of what its edges bring; one that nothing reaches does not exist.
Tensor build_cell(Net& net, const Tensor& x, const Cell& cell) {
  std::vector<std::optional<Tensor>> nodes{x};
  for (const auto& edges : cell) {
    std::optional<Tensor> sum;
    for (size_t from = 0; from < edges.size(); ++from) {
      if (edges[from] == CellOperation::none || !nodes[from]) continue;
      const Tensor brought = edge(net, *nodes[from], edges[from]);
      sum = sum ? net.add(*sum, brought) : brought;
    }
    nodes.push_back(sum);
  }
  return nodes.back() ? *nodes.back() : net.multiply(x, net.graph().constant(0.0F));
}

/// Between the stages: half the size, twice the channels.
Tensor reduce(Net& net, const Tensor& x, int64_t channels) {
  Tensor y = relu_conv_bn(net, x, channels, {.kernel = 3, .stride = 2});
  y = relu_conv_bn(net, y, channels, {.kernel = 3, .gain = 0.5F});
  const Tensor around = net.average_pool(x, {.kernel = 2, .stride = 2});
  return net.add(y, net.conv_bare(around, channels, {}));
}

}  // namespace

void nasbench201(Net& net, const Plan& plan) {
  const auto cell =
      parse_cell(plan.recipe.cell.empty() ? kDefaultCell : std::string_view(plan.recipe.cell));
  if (!cell) return net.graph().refuse(cell.error().message);
  Tensor x = net.conv_bn(image(net, plan), plan.channels(16), {.kernel = 3});
  for (const int64_t channels : {16, 32, 64}) {
    if (channels != 16) x = reduce(net, x, plan.channels(channels));
    for (int64_t at = 0; at < plan.repeats(5); ++at) x = build_cell(net, x, *cell);
  }
  net.graph().output(net.classify(net.relu(net.bn(x)), plan.classes));
}

}  // namespace assay::zoo
