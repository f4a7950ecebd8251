// SPDX-License-Identifier: Apache-2.0
#include "testing/onnx_writer.h"
#include "testing/read.h"

#include <assay/model/workload.h>

namespace assay::model {
namespace {

using namespace testing;

/// One node on zeros of those shapes; the first is the model's input.
Workload workload_of(const std::string& op, const std::vector<Ints>& shapes,
                     const std::vector<std::string>& attributes = {}) {
  GraphParts parts;
  Names names;
  for (size_t i = 0; i < shapes.size(); ++i) {
    names.push_back("t" + std::to_string(i));
    if (i == 0)
      parts.inputs.push_back(value(names[i], shapes[i]));
    else
      parts.initializers.push_back(zeros(names[i], shapes[i]));
  }
  parts.nodes.push_back(node(op, names, {"y"}, attributes));
  return workload(Read(model_of(parts, 13)).traced);
}

TEST(Workload, convolutions_by_kernel_and_groups) {
  const auto pads = attribute("pads", Ints{1, 1, 1, 1});
  EXPECT_EQ(workload_of("Conv", {{1, 3, 8, 8}, {16, 3, 3, 3}}, {pads}).macs_conv3x3, 16 * 64 * 27);
  EXPECT_EQ(workload_of("Conv", {{1, 32, 8, 8}, {16, 32, 1, 1}}).macs_conv1x1, 16 * 64 * 32);
  EXPECT_EQ(workload_of("Conv", {{1, 32, 8, 8}, {16, 32, 1, 3}}).macs_conv_other, 16 * 48 * 32 * 3);
  EXPECT_EQ(workload_of("Conv", {{1, 8, 8, 8}, {16, 4, 3, 3}}, {pads, attribute("group", 2)})
                .macs_grouped,
            16 * 64 * 36);
  const Workload deep =
      workload_of("Conv", {{1, 16, 8, 8}, {16, 1, 3, 3}}, {pads, attribute("group", 16)});
  EXPECT_EQ(deep.macs_depthwise, 16 * 64 * 9);
  EXPECT_EQ(deep.bytes_depthwise, 4 * (2 * 16 * 64 + 16 * 9));
  EXPECT_EQ(deep.macs_few_channels, 0);
  EXPECT_EQ(deep.depthwise_operators, 1);
  EXPECT_EQ(deep.conv_operators, 1);
}

TEST(Workload, few_channels_are_told_apart) {
  EXPECT_EQ(workload_of("Conv", {{1, 3, 8, 8}, {16, 3, 1, 1}}).macs_few_channels, 16 * 64 * 3);
  EXPECT_EQ(workload_of("Conv", {{1, 16, 8, 8}, {16, 16, 1, 1}}).macs_few_channels, 0);
  EXPECT_EQ(workload_of("ConvTranspose", {{1, 16, 5, 5}, {16, 6, 2, 2}}).macs_few_channels, 0);
}

TEST(Workload, products_and_the_rest) {
  const Workload product = workload_of("MatMul", {{3, 4, 7}, {7, 9}});
  EXPECT_EQ(product.macs_matmul, 3 * 4 * 7 * 9);
  EXPECT_EQ(product.matmul_operators, 1);
  EXPECT_EQ(product.weight_bytes, 4 * 7 * 9);
  const Workload relu = workload_of("Relu", {{1, 16, 8, 8}});
  EXPECT_EQ(relu.macs(), 0);
  EXPECT_EQ(relu.bytes_other, 2 * 4 * 16 * 64);
  EXPECT_EQ(relu.activation_bytes, 4 * 16 * 64);
  EXPECT_EQ(relu.operators, 1);
}

TEST(Workload, operators_of_a_loop_count_as_often_as_they_run) {
  const std::string body = graph({{node("Conv", {"x", "w"}, {"h"}, {attribute("group", 4)}),
                                   node("MatMul", {"h", "m"}, {"o"})},
                                  {},
                                  {value("i", Ints{}, 7), value("c", Ints{}, 9)},
                                  {value("c", Ints{}, 9), value("o", Ints{1, 4, 8, 2})}});
  GraphParts parts;
  parts.inputs.push_back(value("x", Ints{1, 4, 8, 8}));
  parts.initializers = {zeros("w", {4, 1, 1, 1}), zeros("m", {8, 2}), integers("n", {7}, true)};
  parts.nodes.push_back(node("Loop", {"n", ""}, {"y"}, {graph_attribute("body", body)}));
  const Workload found = workload(Read(model_of(parts, 13)).traced);
  EXPECT_EQ(found.conv_operators, 7);
  EXPECT_EQ(found.depthwise_operators, 7);
  EXPECT_EQ(found.matmul_operators, 7);
  EXPECT_EQ(found.operators, 14);
}

TEST(Workload, a_file_tells_its_counts_precision_and_inputs) {
  GraphParts parts;
  parts.inputs.push_back(value("image", {1, 3, 8, 8}));
  parts.initializers.push_back(zeros("w", {16, 3, 1, 1}));
  parts.nodes.push_back(node("Conv", {"image", "w"}, {"y"}, {}));
  const Characteristics found = characteristics(Read(model_of(parts, 13)).traced);
  EXPECT_EQ(found.counts.conv_layers, 1U);
  EXPECT_EQ(found.workload.macs(), 16 * 64 * 3);
  EXPECT_EQ(found.precision, "float32");
  ASSERT_EQ(found.inputs.size(), 1U);
  EXPECT_EQ(found.inputs[0].name, "image");
}

TEST(Workload, of_very_many_different_pieces_the_least_dear_are_one) {
  GraphParts parts;
  parts.inputs.push_back(value("x0", Ints{1, 1}));
  for (int i = 0; i < 700; ++i) {
    const auto from = "x" + std::to_string(i);
    const auto to = "x" + std::to_string(i + 1);
    parts.initializers.push_back(zeros("w" + to, {i + 1, i + 2}));
    parts.nodes.push_back(node("MatMul", {from, "w" + to}, {to}));
  }
  const Characteristics found = characteristics(Read(model_of(parts, 13)).traced);
  ASSERT_EQ(found.pieces.size(), 500U);
  double macs = 0;
  for (const auto& piece : found.pieces) macs += piece.times * piece.macs;
  EXPECT_EQ(macs, found.workload.macs());
  EXPECT_EQ(found.pieces.back().kind, "call");
  EXPECT_EQ(found.pieces[498].kind, "other");
}

}  // namespace
}  // namespace assay::model
