// SPDX-License-Identifier: Apache-2.0
#include "recurrent.h"

#include <cmath>

namespace assay::zoo {
namespace {

int64_t published_hidden(std::string_view variant) {
  if (variant == "small") return 200;
  if (variant == "medium") return 650;
  return 1500;
}

}  // namespace

Tensor lstm_layer(Net& net, const Tensor& x, int64_t hidden, int64_t directions) {
  Graph& graph = net.graph();
  const std::string name = graph.next_name("LSTM");
  const float range = 1 / std::sqrt(static_cast<float>(hidden));
  const auto weight = [&](const char* what, Shape shape) {
    return graph.weight(name + what, std::move(shape), -range, range);
  };
  const Tensor inputs = weight(".inputs", {directions, 4 * hidden, x.shape[2]});
  const Tensor recurrent = weight(".recurrent", {directions, 4 * hidden, hidden});
  const Tensor bias = weight(".bias", {directions, 8 * hidden});
  const Tensor y = graph.node(
      "LSTM", {x, inputs, recurrent, bias}, {x.shape[0], directions, x.shape[1], hidden},
      {{"direction", directions == 2 ? "bidirectional" : "forward"}, {"hidden_size", hidden}});
  const Tensor near = directions == 1 ? y : net.transpose(y, {0, 2, 1, 3});
  return net.reshape(near, {x.shape[0], x.shape[1], directions * hidden});
}

void lstm(Net& net, const Plan& plan) {
  const Recipe& recipe = plan.recipe;
  const int64_t hidden = recipe.hidden.value_or(plan.channels(published_hidden(plan.variant)));
  const int64_t length = recipe.sequence.value_or(35);
  Tensor x = net.graph().input("sequence", {length, plan.batch(), hidden});
  for (int64_t at = 0; at < recipe.layers.value_or(plan.repeats(2)); ++at) {
    x = lstm_layer(net, x, hidden, recipe.bidirectional ? 2 : 1);
  }
  const Tensor last = net.slice(x, 0, length - 1, length);
  net.graph().output(net.linear(net.reshape(last, {plan.batch(), x.shape[2]}), plan.classes));
}

}  // namespace assay::zoo
